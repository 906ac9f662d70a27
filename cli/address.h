/*
 * address.h - passwords in addresses of databases: cut out of the command line, where messages, pages and lists of
 * processes would show them.
 */
#ifndef ADDRESS_H
#define ADDRESS_H

/* Cuts the password out of an argument, or out of the value of "--option=value", in place, and keeps the whole. */
void address_hide(char *argument);
/* The whole of what `shown`, an argument or a value, was; other texts as they are. */
const char *address_whole(const char *shown);

#endif
