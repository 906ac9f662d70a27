/*
 * files.h - the files a command reads and writes. No file may be both read and written, or written twice.
 *
 * parse_options() adds the files named by options and arguments; commands add the ones they derive from them.
 */
#ifndef FILES_H
#define FILES_H

enum file_role { FILE_READ, FILE_WRITTEN };

/* Adds a file, a directory of parts or figures, or "-"; NULL is ignored. what: where the user named it, such as
   "--log". A usage error if a file would be read and written, or written twice; links are followed. */
void files_add(enum file_role role, const char *what, const char *path);

#endif
