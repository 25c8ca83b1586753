/* reader.c - a checkpoint out of one packed file, as a game engine keeps its assets.
 *
 *   cc -std=c99 reader.c -o reader $(pkg-config --cflags --libs remora)
 *   tar --format=ustar -cf voice.pack -C MODEL-FOLDER .
 *   ./reader voice.pack "Hello from the pack." | aplay -t raw -f FLOAT_LE -r 44100
 *
 * The pack is a plain tar file; an engine's own archive, or an encrypted one, works alike: remora
 * asks the reader for names and reads at offsets. One file goes the other way, as memory that is
 * lent. Nothing is unpacked. Exit codes: 0 done, 1 error, 2 usage. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#include <remora/remora.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* One file of the pack. remora reads it by one thread at a time, but may read several at once:
 * therefore each has a FILE of its own. */
struct entry {
  FILE* pack;
  uint64_t offset; /* of its first byte in the pack */
};

/* A tar file is a row of [header of 512 bytes][content, filled up to a multiple of 512]. */
static remora_status find(FILE* pack, const char* name, uint64_t* offset, uint64_t* size) {
  char header[512];
  for (uint64_t at = 0; fseeko(pack, (off_t)at, SEEK_SET) == 0;) {
    if (fread(header, sizeof header, 1, pack) != 1) return REMORA_E_FORMAT; /* cut */
    if (header[0] == '\0') break;                                           /* the end */
    if (memcmp(header + 257, "ustar", 5) != 0) return REMORA_E_FORMAT;
    header[100] = header[136] = '\0'; /* behind the fields of name and size */
    *offset = at + sizeof header;
    *size = strtoull(header + 124, NULL, 8);
    if (strcmp(strncmp(header, "./", 2) == 0 ? header + 2 : header, name) == 0) return REMORA_OK;
    at = *offset + (*size + 511) / 512 * 512;
  }
  return REMORA_E_IO; /* to remora: there is no such file, look for another */
}

static void REMORA_CALL close_entry(void* user, void* file) {
  struct entry* const entry = file;
  (void)user;
  if (entry->pack != NULL) fclose(entry->pack);
  free(entry);
}

static remora_status REMORA_CALL open_entry(void* path, const char* name, void** file,
                                            uint64_t* size) {
  struct entry* const entry = calloc(1, sizeof *entry);
  if (entry == NULL) return REMORA_E_OUT_OF_MEMORY;
  entry->pack = fopen(path, "rb");
  const remora_status status =
      entry->pack == NULL ? REMORA_E_CALLBACK : find(entry->pack, name, &entry->offset, size);
  *file = status == REMORA_OK ? entry : NULL;
  if (status != REMORA_OK) close_entry(path, entry);
  return status;
}

/* All of the n bytes or an error. */
static int64_t REMORA_CALL read_entry(void* user, void* file, uint64_t offset, void* dst,
                                      uint64_t n) {
  const struct entry* const entry = file;
  (void)user;
  if (fseeko(entry->pack, (off_t)(entry->offset + offset), SEEK_SET) != 0) return REMORA_E_IO;
  return fread(dst, 1, (size_t)n, entry->pack) == n ? (int64_t)n : REMORA_E_IO;
}

/* Called once, when neither source nor model needs the memory any more. */
static void REMORA_CALL give_back(void* user, const void* data, size_t len) {
  (void)data;
  (void)len;
  free(user);
}

/* Lends config.json as memory. A pack that is mapped would lend pieces of itself in this way. */
static remora_status add_config(remora_source* source, char* path) {
  void* file = NULL;
  uint64_t size = 0;
  if (open_entry(path, "config.json", &file, &size) != REMORA_OK) {
    return REMORA_OK; /* remora asks for it again, and reports it */
  }
  void* const bytes = malloc((size_t)size + 1);
  const int whole = bytes != NULL && read_entry(NULL, file, 0, bytes, size) == (int64_t)size;
  close_entry(NULL, file);
  if (!whole) {
    free(bytes);
    return REMORA_OK;
  }
  return remora_source_add_memory(source, "config.json", bytes, (size_t)size, give_back, bytes);
}

static int32_t REMORA_CALL on_audio(void* out, const float* pcm, size_t n, int32_t last) {
  (void)last;
  return fwrite(pcm, sizeof *pcm, n, out) != n;
}

int main(int argc, char** argv) {
  remora_source* source = NULL;
  remora_model* model = NULL;
  remora_session* session = NULL;
  remora_reader reader = {sizeof reader, 0, NULL, open_entry, read_entry, close_entry};
  remora_prompt prompt;
  if (argc != 3) return fputs("usage: reader PACK TEXT > samples\n", stderr), 2;
  reader.user = argv[1]; /* must outlive the model */
  remora_prompt_init(&prompt, sizeof prompt);
  prompt.text = argv[2];
  prompt.text_len = REMORA_NUL_TERMINATED;
  remora_status status = remora_source_create(&source);
  if (status == REMORA_OK) status = remora_source_set_reader(source, &reader);
  if (status == REMORA_OK) status = add_config(source, argv[1]);
  if (status == REMORA_OK) status = remora_model_create(source, NULL, &model);
  remora_source_destroy(source); /* the model holds what it needs */
  if (status == REMORA_OK) status = remora_session_create(model, NULL, &session);
  if (status == REMORA_OK) status = remora_session_generate(session, &prompt, on_audio, stdout);
  if (status != REMORA_OK) fprintf(stderr, "reader: %s: %s\n", argv[1], remora_last_error());
  remora_session_destroy(session);
  remora_model_destroy(model);
  return status != REMORA_OK || fflush(stdout) != 0;
}
