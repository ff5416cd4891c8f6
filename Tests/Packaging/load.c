// Loads a library when one of its functions is called for the first time: see lazy.py.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct lazy_function {
  void *address;
  const char *name;
  const char *library;
};

// Calls whiteboard_load with the record in r11, and jumps to the function with the arguments that it was called with.
__asm__(
    ".text\n"
    ".hidden whiteboard_load_and_jump\n"
    ".globl whiteboard_load_and_jump\n"
    "whiteboard_load_and_jump:\n"
    "  .cfi_startproc\n"
    "  pushq %rbp\n"
    "  .cfi_def_cfa_offset 16\n"
    "  .cfi_offset %rbp, -16\n"
    "  movq %rsp, %rbp\n"
    "  .cfi_def_cfa_register %rbp\n"
    "  andq $-16, %rsp\n"
    "  subq $192, %rsp\n"
    "  movq %rdi, (%rsp)\n  movq %rsi, 8(%rsp)\n  movq %rdx, 16(%rsp)\n  movq %rcx, 24(%rsp)\n"
    "  movq %r8, 32(%rsp)\n  movq %r9, 40(%rsp)\n  movq %rax, 48(%rsp)\n"
    "  movaps %xmm0, 64(%rsp)\n  movaps %xmm1, 80(%rsp)\n  movaps %xmm2, 96(%rsp)\n  movaps %xmm3, 112(%rsp)\n"
    "  movaps %xmm4, 128(%rsp)\n  movaps %xmm5, 144(%rsp)\n  movaps %xmm6, 160(%rsp)\n  movaps %xmm7, 176(%rsp)\n"
    "  movq %r11, %rdi\n"
    "  callq whiteboard_load\n"
    "  movq %rax, %r11\n"
    "  movq (%rsp), %rdi\n  movq 8(%rsp), %rsi\n  movq 16(%rsp), %rdx\n  movq 24(%rsp), %rcx\n"
    "  movq 32(%rsp), %r8\n  movq 40(%rsp), %r9\n  movq 48(%rsp), %rax\n"
    "  movaps 64(%rsp), %xmm0\n  movaps 80(%rsp), %xmm1\n  movaps 96(%rsp), %xmm2\n  movaps 112(%rsp), %xmm3\n"
    "  movaps 128(%rsp), %xmm4\n  movaps 144(%rsp), %xmm5\n  movaps 160(%rsp), %xmm6\n  movaps 176(%rsp), %xmm7\n"
    "  leave\n"
    "  .cfi_def_cfa %rsp, 8\n"
    "  jmp *%r11\n"
    "  .cfi_endproc\n");

// Returns the address of a function. If the library is missing, the program cannot continue.
__attribute__((visibility("hidden"), used)) void *whiteboard_load(struct lazy_function *function) {
  void *library = dlopen(function->library, RTLD_LAZY | RTLD_GLOBAL);
  void *address = library ? dlsym(library, function->name) : NULL;
  if (!address) {
    const char *reason = dlerror();
    fprintf(stderr, "whiteboard: %s\n", reason ? reason : function->name);
    exit(71);
  }
  __atomic_store_n(&function->address, address, __ATOMIC_RELEASE);
  return address;
}
