/* A plug-in host in plain C: it opens libremora at run time, uses it, closes it, and ends in every
 * way a program may end.
 *
 * usage: host LIBRARY MODE MODEL [BROKEN-MODEL...]
 *
 * Each mode is a function below. Exit code 0: as it should be; the first line that is not says why.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <remora/remora.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The functions that a host of this kind takes from the library. */
struct api {
  void* library;
  __typeof__(&remora_last_error) last_error;
  __typeof__(&remora_model_open) model_open;
  __typeof__(&remora_model_destroy) model_destroy;
  __typeof__(&remora_session_create) session_create;
  __typeof__(&remora_session_destroy) session_destroy;
  __typeof__(&remora_session_generate) session_generate;
  __typeof__(&remora_session_set_sampling) session_set_sampling;
  __typeof__(&remora_sampling_init) sampling_init;
  __typeof__(&remora_prompt_init) prompt_init;
};

struct talk {
  const struct api* api;
  remora_model* model;
  remora_session* session;
  _Atomic int pieces; /* of sound, so far */
};

static const char* g_library;

static void fail(const char* what, const char* why) {
  fprintf(stderr, "host: %s: %s\n", what, why);
  _exit(1);
}

static void* symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == NULL) fail(name, dlerror());
  return found;
}

static struct api open_library(void) {
  struct api api;
  api.library = dlopen(g_library, RTLD_NOW | RTLD_LOCAL);
  if (api.library == NULL) fail("dlopen", dlerror());
  /* The way POSIX has for functions. */
  *(void**)&api.last_error = symbol(api.library, "remora_last_error");
  *(void**)&api.model_open = symbol(api.library, "remora_model_open");
  *(void**)&api.model_destroy = symbol(api.library, "remora_model_destroy");
  *(void**)&api.session_create = symbol(api.library, "remora_session_create");
  *(void**)&api.session_destroy = symbol(api.library, "remora_session_destroy");
  *(void**)&api.session_generate = symbol(api.library, "remora_session_generate");
  *(void**)&api.session_set_sampling = symbol(api.library, "remora_session_set_sampling");
  *(void**)&api.sampling_init = symbol(api.library, "remora_sampling_init");
  *(void**)&api.prompt_init = symbol(api.library, "remora_prompt_init");
  return api;
}

static void close_library(struct api* api) {
  if (dlclose(api->library) != 0) fail("dlclose", dlerror());
}

static void check(const struct api* api, remora_status status, const char* what) {
  if (status != REMORA_OK) fail(what, api->last_error());
}

static int32_t REMORA_CALL on_audio(void* user, const float* pcm, size_t n, int32_t last) {
  (void)pcm, (void)last;
  if (n > 0) ++((struct talk*)user)->pieces;
  return 0;
}

static void start(struct talk* talk, const struct api* api, const char* folder) {
  talk->api = api;
  talk->pieces = 0;
  check(api, api->model_open(folder, NULL, &talk->model), "model_open");
  check(api, api->session_create(talk->model, NULL, &talk->session), "session_create");
}

/* `frames`: 0 = as long as the text takes. Any of the calls may be told that the process ends. */
static remora_status try_to_speak(struct talk* talk, int32_t frames) {
  const struct api* api = talk->api;
  remora_prompt prompt;
  remora_sampling sampling;
  remora_status status = api->sampling_init(&sampling, sizeof sampling);
  if (status != REMORA_OK) return status;
  if (frames > 0) {
    sampling.temperature = 0;
    sampling.max_frames = frames;
    sampling.max_frames_per_byte = 0;
  }
  status = api->session_set_sampling(talk->session, &sampling);
  if (status == REMORA_OK) status = api->prompt_init(&prompt, sizeof prompt);
  if (status != REMORA_OK) return status;
  prompt.text = "Hello there.";
  prompt.text_len = REMORA_NUL_TERMINATED;
  return api->session_generate(talk->session, &prompt, on_audio, talk);
}

static void speak(struct talk* talk, int32_t frames) {
  check(talk->api, try_to_speak(talk, frames), "generate");
  if (talk->pieces == 0) fail("generate", "no sound came");
}

static void stop(struct talk* talk) {
  talk->api->session_destroy(talk->session);
  talk->api->model_destroy(talk->model);
}

/* Three times: open the library, load, speak, destroy, close the library. */
static void rounds(const char* folder) {
  int round;
  for (round = 0; round < 3; ++round) {
    struct api api = open_library();
    struct talk talk;
    start(&talk, &api, folder);
    speak(&talk, 0);
    stop(&talk);
    close_library(&api);
  }
}

/* The process ends with a session alive, the library closed or not. */
static void live_session(const char* folder, int closed) {
  static struct talk talk;
  static struct api api;
  api = open_library();
  start(&talk, &api, folder);
  speak(&talk, 0);
  if (closed) close_library(&api);
}

static void* end_the_process(void* folder) {
  live_session(folder, 0);
  exit(0);
}

static void second_thread(const char* folder) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, end_the_process, (void*)folder) != 0) fail("thread", "none");
  pthread_join(thread, NULL);
  fail("second thread", "came back from exit");
}

/* Speaks until the process ends: then the call is stopped, and later ones are refused. */
static void* speak_on(void* data) {
  struct talk* talk = data;
  remora_status status = REMORA_OK;
  while (status == REMORA_OK) status = try_to_speak(talk, 50);
  if (status != REMORA_E_CANCELLED && status != REMORA_E_INVALID_STATE) {
    fail("at the process's end", talk->api->last_error());
  }
  for (;;) pause();
  return NULL; /* not reached; sanitizers' instrumentation hides that from the compiler */
}

/* main returns while two threads are inside the library. */
static void threads_running(const char* folder) {
  static struct api api;
  static struct talk talks[2];
  int i;
  api = open_library();
  for (i = 0; i < 2; ++i) {
    pthread_t thread;
    start(&talks[i], &api, folder);
    if (pthread_create(&thread, NULL, speak_on, &talks[i]) != 0) fail("thread", "none");
  }
  while (talks[0].pieces < 5 || talks[1].pieces < 5) usleep(1000);
}

/* "RssAnon" or "VmSize" of this process in kilobytes. Resident pages of files are not counted: the
 * system takes them and brings them back as it likes. */
static long kilobytes(const char* what) {
  char line[256];
  long found = -1;
  FILE* file = fopen("/proc/self/status", "r");
  while (file != NULL && found < 0 && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, what, strlen(what)) == 0) found = strtol(line + strlen(what) + 1, NULL, 10);
  }
  if (found < 0) fail(what, "is not told");
  fclose(file);
  return found;
}

/* A hundred times: load, speak, destroy. After the first rounds nothing is kept: neither memory nor
 * maps of files. Means of twenty rounds, as single ones go up and down with the allocator. */
static void load_rounds(const char* folder) {
  static const char* const kinds[] = {"RssAnon", "VmSize"};
  double first[2] = {0, 0}, last[2] = {0, 0};
  struct api api = open_library();
  int round, i;
  for (round = 1; round <= 100; ++round) {
    struct talk talk;
    start(&talk, &api, folder);
    speak(&talk, 5);
    stop(&talk);
    for (i = 0; i < 2; ++i) {
      const long now = kilobytes(kinds[i]);
      if (round > 5 && round <= 25) first[i] += now / 20.0;
      if (round > 80) last[i] += now / 20.0;
      if (round % 10 == 0 || round == 5) printf("round %d: %s %ld kB\n", round, kinds[i], now);
    }
  }
  for (i = 0; i < 2; ++i) {
    printf("%s: %.0f kB in rounds 6 to 25, %.0f kB in rounds 81 to 100\n", kinds[i], first[i],
           last[i]);
    if (last[i] > first[i] + 1024) fail(kinds[i], "grew by more than 1 MB");
  }
}

/* Each broken checkpoint gives an error with its text, and the good one works behind each. */
static void broken_models(const char* good, char** broken, int count) {
  struct api api = open_library();
  int i;
  for (i = 0; i < count; ++i) {
    struct talk talk;
    remora_model* model = NULL;
    const remora_status status = api.model_open(broken[i], NULL, &model);
    if (status >= 0 || model != NULL) fail(broken[i], "was loaded");
    if (strlen(api.last_error()) < 20) fail(broken[i], "has no text to its error");
    printf("%d %s\n", (int)status, api.last_error());
    start(&talk, &api, good);
    if (i == 0 || i == count - 1) speak(&talk, 5);
    stop(&talk);
  }
}

int main(int argc, char** argv) {
  const char *mode, *folder;
  if (argc < 4) fail("usage", "host LIBRARY MODE MODEL [BROKEN-MODEL...]");
  g_library = argv[1];
  mode = argv[2];
  folder = argv[3];
  if (strcmp(mode, "rounds") == 0) {
    rounds(folder);
  } else if (strcmp(mode, "live_session") == 0) {
    live_session(folder, 0);
  } else if (strcmp(mode, "live_session_closed_library") == 0) {
    live_session(folder, 1);
  } else if (strcmp(mode, "second_thread") == 0) {
    second_thread(folder);
  } else if (strcmp(mode, "threads_running") == 0) {
    threads_running(folder);
  } else if (strcmp(mode, "load_rounds") == 0) {
    load_rounds(folder);
  } else if (strcmp(mode, "broken_models") == 0) {
    broken_models(folder, argv + 4, argc - 4);
  } else {
    fail(mode, "is no mode");
  }
  return 0;
}
