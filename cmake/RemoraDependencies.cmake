# System libraries, all private to the shared library.
find_package(nlohmann_json 3.11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(REMORA_PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8>=10.40)
pkg_check_modules(REMORA_UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(REMORA_SNDFILE REQUIRED IMPORTED_TARGET sndfile)
find_package(Threads REQUIRED)
