/* What the tests draw flame graphs of: two functions that compute, below one that calls both; a child that
   is forked without a program of its own, and one that executes another program. */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long sum;
__attribute__((noinline)) void spin(long turns) { for (long i = 0; i < turns; i++) sum += i; }
__attribute__((noinline)) void twice(long turns) { spin(turns); spin(turns); }
__attribute__((noinline)) void once(long turns) { spin(turns); __asm__ volatile(""); }
__attribute__((noinline)) void child(long turns) { spin(turns); __asm__ volatile(""); }
int main(int count, char **words) {
    struct timespec now;
    long turns = 15000000;
    if (count == 1) {
        if (fork() == 0) { child(turns); _exit(0); }
        if (fork() == 0) { execl(words[0], words[0], "again", (char *)0); _exit(1); }
    }
    for (int i = 0; i < 3; i++) { twice(turns); once(turns); }
    for (int i = 0; i < 20000; i++) { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); usleep(0); }
    while (wait(0) > 0) {}
    return 0;
}
