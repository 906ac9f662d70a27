/*
 * files.h - the files a command reads and writes: none may be written that is also read, or written twice.
 *
 * parse_options() lists what the option table and the arguments name; a command adds what it derives from them.
 */
#ifndef FILES_H
#define FILES_H

enum file_role { FILE_READ, FILE_WRITTEN };

/* Adds a file, a directory of parts or figures, or "-"; NULL is none. what: how the user named it, such as "--log".
   A usage error where a file that is written is one that is read, or is written twice; links are seen through. */
void files_add(enum file_role role, const char *what, const char *path);

#endif
