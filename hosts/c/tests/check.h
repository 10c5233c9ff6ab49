/* What tests in C ask of calls: a condition that is false ends the program, with its line and the library's message. */
#ifndef CHECK_H
#define CHECK_H

#include <galopvm.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                     \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, galopvm_message());         \
      exit(1);                                                                               \
    }                                                                                        \
  } while (0)
#define OK(call) CHECK((call) == GALOPVM_OK)
#define IS(status, call) CHECK((call) == (status))

#endif
