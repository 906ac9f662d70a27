/* commands.h - one command per file. Each gets its own argv, with its name in argv[0], and returns the exit status. */
#ifndef COMMANDS_H
#define COMMANDS_H

int command_compare(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_eval(int argc, char **argv);
int command_info(int argc, char **argv);
int command_overdue(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_report(int argc, char **argv);
int command_sample(int argc, char **argv);
int command_score(int argc, char **argv);
int command_serve(int argc, char **argv);
int command_simulate(int argc, char **argv);
int command_train(int argc, char **argv);
int command_watch(int argc, char **argv);

#endif
