/* stream.c - sound while it is being made, pulled as an audio thread pulls it.
 *
 *   cc -std=c99 stream.c -o stream $(pkg-config --cflags --libs remora) -lpthread
 *   ./stream MODEL-FOLDER "A long text." | aplay        (a WAV stream on stdout)
 *   ./stream MODEL-FOLDER "A long text." 50 > out.wav   (a device 50 times as fast: underruns)
 *
 * One thread steps the model into a ring of samples and rests while the ring is full, so it is
 * never far ahead. The other stands for the sound card: every period it wants PERIOD samples. It
 * waits for nothing, not even the lock. On an underrun the rest of the period is silence, and the
 * speech goes on with its next sample. Exit codes: 0 done, 1 error, 2 usage. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <remora/remora.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PERIOD = 512, RING = 1 << 16 }; /* samples */
static remora_session* session;
static remora_prompt prompt;
static char error[1024]; /* empty while all is well */
static float ring[RING];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the next three, for an instant */
static uint64_t ring_made, ring_played;                  /* samples put in, taken out */
static int ring_ended;                                   /* nothing more will be put in */

static void rest(double seconds) { /* less than one */
  const struct timespec t = {0, (long)(seconds * 1e9)};
  nanosleep(&t, NULL);
}

/* Shows what was made to the other side; returns how much was played. */
static uint64_t publish(uint64_t made, int ended) {
  pthread_mutex_lock(&lock);
  const uint64_t played = ring_played;
  ring_made = made;
  ring_ended = ended;
  pthread_mutex_unlock(&lock);
  return played;
}

/* The session's thread: no other calls it, but to cancel. */
static void* speak(void* unused) {
  uint64_t made = 0;
  remora_status status = remora_session_prefill(session, &prompt);
  while (status == REMORA_OK) {
    size_t used, n = 0, at = made % RING;
    while ((used = (size_t)(made - publish(made, 0))) == RING) rest(0.005); /* not far ahead */
    /* Into the free part of the ring, up to its end. */
    status = remora_session_read_pcm(session, ring + at, RING - (used > at ? used : at), &n);
    made += n;
    if (status != REMORA_OK || n > 0) continue;
    status = remora_session_step(session, NULL);
    if (status == REMORA_END) status = REMORA_OK; /* read_pcm has the rest, then it says so */
  }
  if (status < 0) snprintf(error, sizeof error, "%s", remora_last_error()); /* of this thread */
  publish(made, 1);
  return unused;
}

/* What an audio callback does: fills `out` and returns how much of it is sound. */
static size_t audio_callback(float* out, size_t n, int* ended) {
  static uint64_t made, played; /* as last seen: good enough when the lock is taken just now */
  size_t sound = 0;
  if (pthread_mutex_trylock(&lock) == 0) {
    made = ring_made;
    ring_played = played;
    *ended = ring_ended;
    pthread_mutex_unlock(&lock);
  }
  while (sound < n && played < made) out[sound++] = ring[played++ % RING];
  for (size_t i = sound; i < n; ++i) out[i] = 0;
  return sound;
}

/* The sound card: gives periods to stdout, from the first sound to the last. Returns underruns. */
static int play(double period) {
  float out[PERIOD];
  int ended = 0, underruns = 0;
  size_t sound;
  while ((sound = audio_callback(out, PERIOD, &ended)) == 0 && !ended) rest(period);
  for (; sound > 0 || !ended; sound = audio_callback(out, PERIOD, &ended)) {
    const size_t n = ended ? sound : PERIOD;
    underruns += sound < n;
    if (fwrite(out, sizeof *out, n, stdout) != n) remora_session_cancel(session);
    rest(period);
  }
  return underruns;
}

int main(int argc, char** argv) {
  char header[64];
  size_t size = 0;
  pthread_t thread;
  remora_model* model = NULL;
  remora_model_info info = {.struct_size = sizeof info};
  remora_stats stats = {.struct_size = sizeof stats};
  const double speed = argc > 3 ? atof(argv[3]) : 1;
  if (argc < 3 || !(speed >= 1)) return fputs("usage: stream MODEL TEXT [SPEED]\n", stderr), 2;
  remora_prompt_init(&prompt, sizeof prompt);
  prompt.text = argv[2];
  prompt.text_len = REMORA_NUL_TERMINATED;
  if (remora_model_open(argv[1], NULL, &model) || remora_model_describe(model, &info) ||
      remora_session_create(model, NULL, &session) || remora_session_warmup(session) ||
      remora_audio_stream_header(REMORA_AUDIO_WAV_FLOAT, 1, info.sample_rate, header, 64, &size)) {
    snprintf(error, sizeof error, "%s", remora_last_error());
  } else if (pthread_create(&thread, NULL, speak, NULL) != 0) {
    snprintf(error, sizeof error, "no thread could be started");
  } else {
    fwrite(header, 1, size, stdout);
    const int underruns = play(PERIOD / (speed * info.sample_rate));
    pthread_join(thread, NULL);
    remora_session_stats(session, &stats);
    fprintf(stderr, "first sound: %.1f ms, underruns: %d\n", stats.first_audio_ns / 1e6, underruns);
  }
  remora_session_destroy(session);
  remora_model_destroy(model);
  if (error[0] != '\0') fprintf(stderr, "stream: %s\n", error);
  return error[0] != '\0' || fflush(stdout) != 0;
}
