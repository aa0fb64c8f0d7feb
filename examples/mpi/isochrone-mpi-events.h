/* The events of isochrone-mpi.c, for LTTng-UST. crates/net/src/tracer/mpi.rs reads them. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER mpi

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./isochrone-mpi-events.h"

#if !defined(ISOCHRONE_MPI_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ISOCHRONE_MPI_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* A process has begun: its rank and how many there are in MPI_COMM_WORLD, and a number that all processes of the job share. */
LTTNG_UST_TRACEPOINT_EVENT(mpi, init,
    LTTNG_UST_TP_ARGS(int, rank, int, size, uint64_t, job),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int, rank, rank)
        lttng_ust_field_integer(int, size, size)
        lttng_ust_field_integer(uint64_t, job, job)))

/* A call into MPI begins, and ends: a phase of the program. */
LTTNG_UST_TRACEPOINT_EVENT(mpi, begin,
    LTTNG_UST_TP_ARGS(int, rank, const char *, func),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int, rank, rank)
        lttng_ust_field_string(func, func)))

LTTNG_UST_TRACEPOINT_EVENT(mpi, end,
    LTTNG_UST_TP_ARGS(int, rank, const char *, func, int, ret),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int, rank, rank)
        lttng_ust_field_string(func, func)
        lttng_ust_field_integer(int, ret, ret)))

/* A message: before it is sent, and after it was received. Ranks are those of MPI_COMM_WORLD; a communicator has one number in all of its processes. */
LTTNG_UST_TRACEPOINT_EVENT(mpi, msg,
    LTTNG_UST_TP_ARGS(int, rank, int, is_send, int, peer, int, tag, int64_t, bytes, uint64_t, job, uint64_t, comm),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int, rank, rank)
        lttng_ust_field_integer(int, is_send, is_send)
        lttng_ust_field_integer(int, peer, peer)
        lttng_ust_field_integer(int, tag, tag)
        lttng_ust_field_integer(int64_t, bytes, bytes)
        lttng_ust_field_integer(uint64_t, job, job)
        lttng_ust_field_integer(uint64_t, comm, comm)))

#endif

#include <lttng/tracepoint-event.h>
