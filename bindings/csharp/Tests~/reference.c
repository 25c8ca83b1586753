/* usage: reference MODEL TEXT OUT.wav: what the README's example does, in C. */
#include <remora/remora.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sound {
  float* samples;
  size_t n;
};

static int32_t REMORA_CALL keep(void* user, const float* pcm, size_t n, int32_t last) {
  struct sound* sound = user;
  float* grown = realloc(sound->samples, (sound->n + n + 1) * sizeof *grown);
  (void)last;
  if (grown == NULL) return 1;
  if (n > 0) memcpy(grown + sound->n, pcm, n * sizeof *grown);
  sound->samples = grown;
  sound->n += n;
  return 0;
}

int main(int argc, char** argv) {
  struct sound sound = {NULL, 0};
  remora_model* model = NULL;
  remora_session* session = NULL;
  remora_model_info info = {.struct_size = sizeof info};
  remora_prompt prompt;
  if (argc != 4) return 2;
  remora_status status = remora_model_open(argv[1], NULL, &model);
  if (status == REMORA_OK) status = remora_model_describe(model, &info);
  if (status == REMORA_OK) status = remora_session_create(model, NULL, &session);
  remora_prompt_init(&prompt, sizeof prompt);
  prompt.text = argv[2];
  prompt.text_len = REMORA_NUL_TERMINATED;
  if (status == REMORA_OK) status = remora_session_generate(session, &prompt, keep, &sound);
  if (status == REMORA_OK)
    status = remora_audio_write(argv[3], sound.samples, sound.n, 1, info.sample_rate,
                                REMORA_AUDIO_WAV_PCM16);
  if (status != REMORA_OK) fprintf(stderr, "reference: %s\n", remora_last_error());
  remora_session_destroy(session);
  remora_model_destroy(model);
  free(sound.samples);
  return status != REMORA_OK;
}
