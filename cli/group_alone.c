/* group_alone.c - see group.h: one process, for smurf. */
#include "group.h"

const char *group_program(void)
{
    return "smurf";
}

const char *group_features(void)
{
    return "";
}

void group_start(void) {}

void group_enter(const char *command, enum group_use use)
{
    (void)command, (void)use;
}

bool group_has_terminal(void)
{
    return true;
}

int group_rank(void)
{
    return 0;
}

int group_count(void)
{
    return 1;
}

int group_worst(int status)
{
    return status;
}
