/*
 * live.h - what happens in a service, told to those who listen to GET /v1/stream as it happens.
 *
 * Messages are kept in one ring for all listeners, each of which has a place in it. A listener takes no thread: while
 * there is nothing to tell, its connection is suspended. One that falls behind by a whole ring is dropped. Functions
 * may be called from several threads.
 */
#ifndef LIVE_H
#define LIVE_H

#include <stdbool.h>
#include <stddef.h>

struct live;
struct service;

/* Starts the thread that follows the store (live_follow.c). Returns 0, or the exit status after reporting the error. */
int live_new(struct live **out, struct service *service);
/* No more messages: all listeners are sent away. */
void live_end(struct live *live);
/* Ends the thread. The server has stopped. NULL is fine. */
void live_free(struct live *live);

/* Tells all listeners: `text` is JSON, of kind "event", "forecast", "alarm" or "model". Line breaks become spaces. */
void live_tell(struct live *live, const char *kind, const char *text);
/* A comment, which keeps connections open and finds those that are gone. */
void live_beat(struct live *live);
size_t live_listeners(struct live *live);

/* live_follow.c: the thread, until live_end(). */
void *live_follow(void *live);
struct service *live_service(struct live *live);
bool live_ended(struct live *live);
/* The number of the last event before it began. */
size_t live_before(const struct live *live);

#endif
