/* voice.c - a recording and its words become a voice: saved to a file, loaded again, and speaking.
 *
 *   cc -std=c99 voice.c -o voice $(pkg-config --cflags --libs remora)
 *   ./voice MODEL-FOLDER me.wav "The words that are said in it." me.voice "Hello." out.wav
 *
 * Encoding a recording takes a while; a saved voice of some kilobytes loads at once, into any model
 * with the same codebooks. Exit codes: 0 done, 1 error, 2 usage. */
#include <remora/remora.h>
#include <stdio.h>
#include <stdlib.h>

static int ok(remora_status status) {
  if (status >= 0) return 1;
  fprintf(stderr, "voice: %s: %s\n", remora_status_name(status), remora_last_error());
  return 0;
}

/* Writes the voice's bytes to a file. They might as well go to a database or over a network. */
static int save(const remora_voice* voice, const char* path) {
  size_t size = 0;
  if (!ok(remora_voice_save(voice, NULL, 0, &size))) return 0; /* asks for the size */
  void* const bytes = malloc(size);
  int saved = bytes != NULL && ok(remora_voice_save(voice, bytes, size, &size));
  FILE* const file = saved ? fopen(path, "wb") : NULL;
  saved = file != NULL && fwrite(bytes, 1, size, file) == size;
  if (file != NULL && fclose(file) != 0) saved = 0;
  free(bytes);
  if (saved) {
    printf("%s: %lu bytes\n", path, (unsigned long)size);
  } else {
    fprintf(stderr, "voice: %s: was not written\n", path);
  }
  return saved;
}

/* The voice in a file; one that is damaged, or of another kind of model, is refused. */
static int load(const remora_model* model, const char* path, remora_voice** voice) {
  static char bytes[1 << 20]; /* a reference of 90 s, the longest that makes sense, has 40 KB */
  FILE* const file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    return 0;
  }
  const size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  return ok(remora_voice_load(model, bytes, size, voice));
}

/* Makes the frames of a text in the voice. */
static int speak(remora_session* session, const remora_voice* voice, const char* text) {
  remora_prompt prompt;
  remora_status status = remora_prompt_init(&prompt, sizeof prompt);
  prompt.text = text;
  prompt.text_len = REMORA_NUL_TERMINATED;
  prompt.voices = &voice; /* speaker i of the text is voices[i] */
  prompt.n_voices = 1;
  if (status == REMORA_OK) status = remora_session_prefill(session, &prompt);
  while (status == REMORA_OK) status = remora_session_step(session, NULL);
  return ok(status);
}

/* Decodes the frames into a file. */
static int write_sound(remora_session* session, const remora_model* model, const char* path) {
  remora_model_info info = {.struct_size = sizeof info};
  remora_stats stats = {.struct_size = sizeof stats};
  if (!ok(remora_model_describe(model, &info)) || !ok(remora_session_stats(session, &stats))) {
    return 0;
  }
  const size_t room = (size_t)stats.frames * (size_t)info.samples_per_frame;
  float* const pcm = malloc((room + 1) * sizeof *pcm);
  remora_status status = pcm == NULL ? REMORA_E_OUT_OF_MEMORY : REMORA_OK;
  size_t have = 0, written = 0;
  for (; status == REMORA_OK; have += written) {
    status = remora_session_read_pcm(session, pcm + have, room - have, &written);
  }
  if (status == REMORA_END) {
    status = remora_audio_write(path, pcm, have, 1, info.sample_rate, REMORA_AUDIO_WAV_PCM16);
  }
  free(pcm);
  return ok(status);
}

int main(int argc, char** argv) {
  remora_model* model = NULL;
  remora_voice* made = NULL;
  remora_voice* loaded = NULL;
  remora_session* session = NULL;
  if (argc != 7) {
    fprintf(stderr, "usage: voice MODEL RECORDING ITS-WORDS FILE.voice TEXT OUT.wav\n");
    return 2;
  }
  const int done = ok(remora_model_open(argv[1], NULL, &model)) &&
                   ok(remora_voice_open(model, argv[2], argv[3], REMORA_NUL_TERMINATED, &made)) &&
                   save(made, argv[4]) && load(model, argv[4], &loaded) &&
                   ok(remora_session_create(model, NULL, &session)) &&
                   speak(session, loaded, argv[5]) && write_sound(session, model, argv[6]);
  remora_voice_destroy(made); /* in any order */
  remora_model_destroy(model);
  remora_voice_destroy(loaded);
  remora_session_destroy(session);
  return done ? 0 : 1;
}
