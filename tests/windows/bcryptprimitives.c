/* Wine has the library from which Rust takes its random numbers from version 9 on. For an older one
   this stands in: the same numbers, by another name. */

#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T length) {
    return RtlGenRandom(bytes, (ULONG)length);
}
