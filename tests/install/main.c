/* A program in plain C that knows the installed header and library and nothing else. It proves that
 * the library loads, LibTorch with it, and that an error comes back instead of a crash. */
#include <remora/remora.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  remora_model* model = NULL;
  remora_status status = remora_model_open("no such folder", NULL, &model);
  printf("%s\n%s: %s\n", remora_build_info(), remora_status_name(status), remora_last_error());
  if (remora_abi_version() != REMORA_ABI_VERSION) return 1;
  if (status != REMORA_E_IO || model != NULL) return 2;
  return strstr(remora_last_error(), "no such folder") == NULL ? 3 : 0;
}
