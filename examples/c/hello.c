/* hello.c - a text becomes hello.wav: the shortest program that checks everything.
 *
 *   cc -std=c99 hello.c -o hello $(pkg-config --cflags --libs remora)
 *   ./hello MODEL-FOLDER "Hello from remora."
 *
 * Exit codes: 0 done, 1 error, 2 usage, 3 cut at a length limit (hello.wav holds what was said). */
#include <remora/remora.h>
#include <stdio.h>
#include <stdlib.h>

/* True when a call went well; else its text, which is this thread's last error, goes to stderr. */
static int ok(remora_status status) {
  if (status >= 0) return 1;
  fprintf(stderr, "hello: %s\n", remora_last_error());
  return 0;
}

/* Makes all frames of the text. True at the end of the speech. */
static int say(remora_session* session, const char* text) {
  remora_prompt prompt;
  remora_status status = remora_prompt_init(&prompt, sizeof prompt);
  if (!ok(status)) return 0;
  prompt.text = text;
  prompt.text_len = REMORA_NUL_TERMINATED;
  status = remora_session_prefill(session, &prompt);
  while (status == REMORA_OK) status = remora_session_step(session, NULL);
  return ok(status);
}

/* Decodes what was said into a file. The number of samples is known: frames times samples of one.
 */
static int write_sound(remora_session* session, const remora_model* model, const char* path) {
  remora_model_info info;
  remora_stats stats;
  info.struct_size = sizeof info;
  stats.struct_size = sizeof stats;
  if (!ok(remora_model_describe(model, &info)) || !ok(remora_session_stats(session, &stats))) {
    return 1;
  }
  const size_t room = (size_t)stats.frames * (size_t)info.samples_per_frame;
  float* const pcm = malloc((room + 1) * sizeof *pcm);
  if (pcm == NULL) {
    fprintf(stderr, "hello: no memory for %lu samples\n", (unsigned long)room);
    return 1;
  }
  size_t have = 0;
  remora_status status = REMORA_OK;
  while (status == REMORA_OK) { /* piece by piece, until REMORA_END */
    size_t written = 0;
    status = remora_session_read_pcm(session, pcm + have, room - have, &written);
    have += written;
  }
  const int done = ok(status) && ok(remora_audio_write(path, pcm, have, 1, info.sample_rate,
                                                       REMORA_AUDIO_WAV_PCM16));
  free(pcm);
  if (!done) return 1;
  printf("%s: %.2f s\n", path, (double)have / info.sample_rate);
  if (stats.finish == REMORA_FINISH_END_TOKEN) return 0;
  fprintf(stderr, "hello: a length limit cut the speech\n");
  return 3;
}

int main(int argc, char** argv) {
  remora_model* model = NULL;
  remora_session* session = NULL;
  int result = 1;
  if (argc != 3) {
    fprintf(stderr, "usage: hello MODEL-FOLDER TEXT\n");
    return 2;
  }
  if (ok(remora_model_open(argv[1], NULL, &model)) &&
      ok(remora_session_create(model, NULL, &session)) && say(session, argv[2])) {
    result = write_sound(session, model, "hello.wav");
  }
  remora_session_destroy(session); /* in any order, NULL too */
  remora_model_destroy(model);
  return result;
}
