/* threads.c - several sessions speak at once on threads of their own, over one model.
 *
 *   cc -std=c99 threads.c -o threads $(pkg-config --cflags --libs remora) -lpthread
 *   ./threads MODEL-FOLDER "A text." 4
 *
 * Speaker i has seed i and writes threads-i.wav. Then all speak again, one after the other, and the
 * samples must be the same. The weights are in memory once; each session adds its context and its
 * codec's state. Exit codes: 0 equal, 1 error or not equal, 2 usage. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <remora/remora.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPEAKERS = 16 }; /* at most */

/* What one speaker is told, and what comes back. */
struct speaker {
  const remora_model* model; /* shared: immutable, for any number of threads */
  const char* text;
  uint64_t seed;
  float* pcm;
  size_t n, room;
  remora_status status;
  char error[256]; /* remora_last_error() belongs to the thread that failed: copied there */
};

static int32_t REMORA_CALL on_audio(void* user, const float* pcm, size_t n, int32_t last) {
  struct speaker* const speaker = user;
  (void)last;
  if (n > speaker->room - speaker->n) {
    const size_t room = 2 * (speaker->n + n);
    float* const grown = realloc(speaker->pcm, room * sizeof *grown);
    if (grown == NULL) return 1;
    speaker->pcm = grown;
    speaker->room = room;
  }
  if (n > 0) memcpy(speaker->pcm + speaker->n, pcm, n * sizeof *pcm);
  speaker->n += n;
  return 0;
}

/* A thread's work: the session is made, used and destroyed here. */
static void* speak(void* user) {
  struct speaker* const speaker = user;
  remora_session* session = NULL;
  remora_sampling sampling;
  remora_prompt prompt;
  remora_sampling_init(&sampling, sizeof sampling);
  remora_prompt_init(&prompt, sizeof prompt);
  sampling.seed = speaker->seed;
  prompt.text = speaker->text;
  prompt.text_len = REMORA_NUL_TERMINATED;
  remora_status status = remora_session_create(speaker->model, NULL, &session);
  if (status == REMORA_OK) status = remora_session_set_sampling(session, &sampling);
  if (status == REMORA_OK) status = remora_session_generate(session, &prompt, on_audio, speaker);
  if (status != REMORA_OK) snprintf(speaker->error, 256, "%s", remora_last_error());
  speaker->status = status;
  remora_session_destroy(session);
  return NULL;
}

static void speak_together(struct speaker* speakers, int n) {
  pthread_t threads[SPEAKERS];
  int started[SPEAKERS];
  for (int i = 0; i < n; ++i) {
    started[i] = pthread_create(&threads[i], NULL, speak, &speakers[i]) == 0;
    if (!started[i]) speak(&speakers[i]); /* no thread to be had: here, then */
  }
  for (int i = 0; i < n; ++i) {
    if (started[i]) pthread_join(threads[i], NULL);
  }
}

/* Compares what a speaker said in both rounds, and writes it. */
static int report(const struct speaker* together, const struct speaker* alone, int32_t rate) {
  char path[64];
  const struct speaker* const failed = together->status != REMORA_OK ? together : alone;
  if (failed->status != REMORA_OK) return fprintf(stderr, "threads: %s\n", failed->error), 0;
  int equal = together->n == alone->n;
  for (size_t i = 0; equal && i < alone->n; ++i) equal = together->pcm[i] == alone->pcm[i];
  snprintf(path, sizeof path, "threads-%d.wav", (int)alone->seed);
  printf("%s: %.2f s, %s\n", path, (double)alone->n / rate, equal ? "equal" : "NOT equal");
  if (remora_audio_write(path, together->pcm, together->n, 1, rate, REMORA_AUDIO_WAV_PCM16) !=
      REMORA_OK) {
    return fprintf(stderr, "threads: %s\n", remora_last_error()), 0;
  }
  return equal;
}

int main(int argc, char** argv) {
  static struct speaker together[SPEAKERS], alone[SPEAKERS]; /* all zero */
  remora_model* model = NULL;
  remora_model_info info = {.struct_size = sizeof info};
  const int n = argc == 4 ? atoi(argv[3]) : 0;
  if (n < 1 || n > SPEAKERS) return fputs("usage: threads MODEL TEXT 1..16\n", stderr), 2;
  /* Sessions share the cores better than the threads of one operation do. For the process. */
  if (remora_set_threads(1) || remora_model_open(argv[1], NULL, &model) ||
      remora_model_describe(model, &info)) {
    fprintf(stderr, "threads: %s\n", remora_last_error());
    remora_model_destroy(model);
    return 1;
  }
  for (int i = 0; i < n; ++i) {
    together[i].model = alone[i].model = model;
    together[i].text = alone[i].text = argv[2];
    together[i].seed = alone[i].seed = (uint64_t)i;
  }
  speak_together(together, n);
  for (int i = 0; i < n; ++i) speak(&alone[i]);
  remora_model_destroy(model);
  int good = 1;
  for (int i = 0; i < n; ++i) {
    good &= report(&together[i], &alone[i], info.sample_rate);
    free(together[i].pcm);
    free(alone[i].pcm);
  }
  return good ? 0 : 1;
}
