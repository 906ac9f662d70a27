/*
 * group.h - the processes that run this command together: one of smurf, or those of smurf-mpi that mpirun started.
 *
 * The first, rank 0, prints and writes files. Standard output of the others is discarded, and their messages are held
 * back: a failure that rank 0 has as well is told once.
 */
#ifndef GROUP_H
#define GROUP_H

#include <stdbool.h>

/* What a command does in a group of several. */
enum group_use {
    GROUP_ALONE,  /* it is refused */
    GROUP_JOINS,  /* all take part in the same work */
    GROUP_SPREADS /* each does work of its own */
};

/* "smurf" or "smurf-mpi". */
const char *group_program(void);
/* What the program was built with besides the library's features: "" or ", Open MPI v4.1.4". */
const char *group_features(void);

/* Call after terminal_init(), once. The process must end by exit() or by returning from main(). */
void group_start(void);
/* Call before the command. A usage error if it is GROUP_ALONE and there are several processes. */
void group_enter(const char *command, enum group_use use);

/* Whether a terminal on standard output is the user's: mpirun gives one of its own to every process. */
bool group_has_terminal(void);
int group_rank(void);
int group_count(void);
/* All processes must call it, for GROUP_SPREADS. Waits for the others, however long; 1 if the status of any is 1, else
   the highest. Messages of processes that failed are told. */
int group_worst(int status);

#endif
