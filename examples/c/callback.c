/* callback.c - remora calls back with the sound, and is stopped: by the callback, or by a thread.
 *
 *   cc -std=c99 callback.c -o callback $(pkg-config --cflags --libs remora) -lpthread
 *   ./callback MODEL-FOLDER "A long text." out.wav          (to its end)
 *   ./callback MODEL-FOLDER "A long text." out.wav 2        (stops itself after 2 s of sound)
 *   ./callback MODEL-FOLDER "A long text." out.wav 60 500   (cancelled after 500 ms of work)
 *
 * out.wav gets what was made until then. Exit codes: 0 spoken, 1 error, 2 usage, 3 stopped. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <remora/remora.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static remora_session* session;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int done; /* guarded by `lock` */

struct heard {
  float* pcm;
  size_t n, room, enough; /* samples */
  int32_t rate;           /* of them in a second */
};

/* Progress of the load, 0 to 1. Another result than 0 would stop it. */
static int32_t REMORA_CALL on_progress(void* user, float fraction) {
  fprintf((FILE*)user, "\rloading: %3.0f %%", 100 * fraction);
  return 0;
}

/* Takes samples, which are there during the call only; non-zero stops the speech. Of remora's
 * functions a callback may use remora_session_cancel() and no other. */
static int32_t REMORA_CALL on_audio(void* user, const float* pcm, size_t n, int32_t last) {
  struct heard* const heard = user;
  if (n > heard->room - heard->n) {
    const size_t room = 2 * (heard->n + n);
    float* const grown = realloc(heard->pcm, room * sizeof *grown);
    if (grown == NULL) return 1;
    heard->pcm = grown;
    heard->room = room;
  }
  if (n > 0) memcpy(heard->pcm + heard->n, pcm, n * sizeof *pcm);
  heard->n += n;
  fprintf(stderr, "\rspoken: %.2f s", (double)heard->n / heard->rate);
  return !last && heard->n >= heard->enough;
}

/* A thread of its own: cancels the session unless it is done in time. */
static void* keep_deadline(void* time) {
  int waited = 0;
  pthread_mutex_lock(&lock);
  while (!done && waited == 0) waited = pthread_cond_timedwait(&changed, &lock, time);
  if (!done) remora_session_cancel(session); /* from any thread, any number of times */
  pthread_mutex_unlock(&lock);
  return NULL;
}

/* Speaks for at most `ms` milliseconds; the status is that of remora_session_generate(). */
static remora_status speak(const char* text, struct heard* heard, long ms) {
  struct timespec time;
  pthread_t thread;
  remora_prompt prompt;
  remora_prompt_init(&prompt, sizeof prompt);
  prompt.text = text;
  prompt.text_len = REMORA_NUL_TERMINATED;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_nsec += ms % 1000 * 1000000;
  time.tv_sec += ms / 1000 + time.tv_nsec / 1000000000;
  time.tv_nsec %= 1000000000;
  const int watched = pthread_create(&thread, NULL, keep_deadline, &time) == 0;
  if (!watched) fputs("callback: no thread for the deadline\n", stderr);
  const remora_status status = remora_session_generate(session, &prompt, on_audio, heard);
  pthread_mutex_lock(&lock);
  done = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  if (watched) pthread_join(thread, NULL); /* before the session is destroyed */
  return status;
}

int main(int argc, char** argv) {
  struct heard heard = {NULL, 0, 0, 0, 0};
  remora_model* model = NULL;
  remora_model_params params;
  remora_model_info info = {.struct_size = sizeof info};
  const double seconds = argc > 4 ? atof(argv[4]) : 600;
  const long ms = argc > 5 ? atol(argv[5]) : 600000;
  if (argc < 4 || !(seconds > 0 && seconds < 1e6) || ms < 0) {
    return fputs("usage: callback MODEL TEXT OUT.wav [SECONDS [MS]]\n", stderr), 2;
  }
  remora_model_params_init(&params, sizeof params);
  params.progress = on_progress;
  params.progress_user = stderr;
  remora_status status = remora_model_open(argv[1], &params, &model);
  fputs("\n", stderr);
  if (status == REMORA_OK) status = remora_model_describe(model, &info);
  if (status == REMORA_OK) status = remora_session_create(model, NULL, &session);
  if (status == REMORA_OK) {
    heard.rate = info.sample_rate;
    heard.enough = (size_t)(seconds * heard.rate);
    status = speak(argv[2], &heard, ms);
    fputs("\n", stderr);
  }
  const int stopped = status == REMORA_E_CANCELLED;
  if (stopped) {
    fprintf(stderr, "callback: %s\n", remora_last_error());
    status = remora_session_reset(session); /* for the session's next prompt */
  }
  if (status == REMORA_OK) {
    status = remora_audio_write(argv[3], heard.pcm, heard.n, 1, heard.rate, REMORA_AUDIO_WAV_PCM16);
  }
  if (status != REMORA_OK) fprintf(stderr, "callback: %s\n", remora_last_error());
  remora_session_destroy(session);
  remora_model_destroy(model);
  free(heard.pcm);
  return status != REMORA_OK ? 1 : stopped ? 3 : 0;
}
