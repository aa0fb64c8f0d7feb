/*
 * Records what MPI programs do with LTTng-UST, through MPI's profiling interface: calls as phases, and messages.
 *
 *   make                                    builds libisochrone-mpi.so
 *   lttng enable-event --userspace 'mpi:*'  on every host
 *   mpiexec -env LD_PRELOAD $PWD/libisochrone-mpi.so ./program
 *
 * A message is recorded before it is sent, and after it was received, so that what is between the two holds the time that it took. Messages of
 * intercommunicators, of persistent requests and of one-sided communication are not recorded; neither are those within collective calls.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "isochrone-mpi-events.h"

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int world_rank = -1;
static uint64_t job;
static MPI_Group world;
static int comm_key = MPI_KEYVAL_INVALID;
static uint64_t comms_made;

#define BEGIN(name) lttng_ust_tracepoint(mpi, begin, world_rank, name)
#define END(name, result) lttng_ust_tracepoint(mpi, end, world_rank, name, result)

/* Receptions that have begun: what a request is of. */
struct reception {
    MPI_Request request;
    MPI_Comm comm;
    struct reception *next;
};

#define BUCKETS 256
static struct reception *receptions[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct reception **bucket(MPI_Request request)
{
    uintptr_t value = (uintptr_t)request;
    return &receptions[(value >> 4 ^ value) % BUCKETS];
}

static void remember(MPI_Request request, MPI_Comm comm)
{
    struct reception *it = malloc(sizeof *it);
    if (it == NULL)
        return;
    pthread_mutex_lock(&lock);
    struct reception **first = bucket(request);
    *it = (struct reception){request, comm, *first};
    *first = it;
    pthread_mutex_unlock(&lock);
}

/* The communicator of a reception, which is forgotten; MPI_COMM_NULL of any other request. */
static MPI_Comm forget(MPI_Request request)
{
    MPI_Comm comm = MPI_COMM_NULL;
    pthread_mutex_lock(&lock);
    for (struct reception **at = bucket(request); *at != NULL; at = &(*at)->next) {
        if ((*at)->request == request) {
            struct reception *it = *at;
            comm = it->comm;
            *at = it->next;
            free(it);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return comm;
}

/* The number of a communicator: 0 of MPI_COMM_WORLD. */
static uint64_t number_of(MPI_Comm comm)
{
    void *value = NULL;
    int found = 0;
    if (comm == MPI_COMM_WORLD || comm_key == MPI_KEYVAL_INVALID)
        return 0;
    PMPI_Comm_get_attr(comm, comm_key, &value, &found);
    return found ? (uint64_t)(uintptr_t)value : UINT64_MAX;
}

/* Gives a new communicator a number that all of its processes agree on. All of them call this. */
static void number(MPI_Comm comm)
{
    int is_inter = 0;
    if (comm == MPI_COMM_NULL)
        return;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        return;
    uint64_t chosen = ((uint64_t)world_rank << 32) + ++comms_made;
    PMPI_Bcast(&chosen, 1, MPI_UINT64_T, 0, comm);
    PMPI_Comm_set_attr(comm, comm_key, (void *)(uintptr_t)chosen);
}

/* The rank in MPI_COMM_WORLD of a rank of a communicator; negative where there is none. */
static int world_rank_of(MPI_Comm comm, int rank)
{
    MPI_Group group;
    int found = -1;
    if (comm == MPI_COMM_WORLD || rank < 0)
        return rank;
    PMPI_Comm_group(comm, &group);
    PMPI_Group_translate_ranks(group, 1, &rank, world, &found);
    PMPI_Group_free(&group);
    return found;
}

static void message(int is_send, MPI_Comm comm, int peer, int tag, int count, MPI_Datatype type)
{
    int size = 0, other = world_rank_of(comm, peer);
    uint64_t of = number_of(comm);
    if (other < 0 || of == UINT64_MAX || count < 0)
        return;
    PMPI_Type_size(type, &size);
    lttng_ust_tracepoint(mpi, msg, world_rank, is_send, other, tag, (int64_t)count * size, job, of);
}

static void sending(MPI_Comm comm, int peer, int tag, int count, MPI_Datatype type)
{
    message(1, comm, peer, tag, count, type);
}

static void received(MPI_Comm comm, const MPI_Status *status)
{
    int bytes = 0;
    PMPI_Get_count(status, MPI_BYTE, &bytes);
    message(0, comm, status->MPI_SOURCE, status->MPI_TAG, bytes, MPI_BYTE);
}

/* A request is complete. */
static void completed(MPI_Request request, const MPI_Status *status)
{
    int is_cancelled = 0;
    MPI_Comm comm = forget(request);
    if (comm == MPI_COMM_NULL)
        return;
    PMPI_Test_cancelled(status, &is_cancelled);
    if (!is_cancelled)
        received(comm, status);
}

static void begun(void)
{
    int size = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    job = ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec) ^ (uint64_t)getpid() << 48;
    PMPI_Bcast(&job, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    lttng_ust_tracepoint(mpi, init, world_rank, size, job);
}

int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv);
    begun();
    return result;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int result = PMPI_Init_thread(argc, argv, required, provided);
    begun();
    return result;
}

/* A call that is nothing but a phase. */
#define PHASE(name, parameters, arguments) \
    int name parameters \
    { \
        BEGIN(#name); \
        int result = P##name arguments; \
        END(#name, result); \
        return result; \
    }

/* A call that sends. */
#define SEND(name) \
    int name(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) \
    { \
        BEGIN(#name); \
        sending(comm, to, tag, count, type); \
        int result = P##name(data, count, type, to, tag, comm); \
        END(#name, result); \
        return result; \
    }

/* A call that begins to send. */
#define ISEND(name) \
    int name(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request) \
    { \
        BEGIN(#name); \
        sending(comm, to, tag, count, type); \
        int result = P##name(data, count, type, to, tag, comm, request); \
        END(#name, result); \
        return result; \
    }

/* A call that makes a communicator. */
#define MAKES_COMM(name, parameters, arguments) \
    int name parameters \
    { \
        BEGIN(#name); \
        int result = P##name arguments; \
        if (result == MPI_SUCCESS) \
            number(*made); \
        END(#name, result); \
        return result; \
    }

SEND(MPI_Send)
SEND(MPI_Ssend)
SEND(MPI_Bsend)
SEND(MPI_Rsend)
ISEND(MPI_Isend)
ISEND(MPI_Issend)
ISEND(MPI_Ibsend)
ISEND(MPI_Irsend)

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    BEGIN("MPI_Recv");
    int result = PMPI_Recv(data, count, type, from, tag, comm, status);
    if (result == MPI_SUCCESS)
        received(comm, status);
    END("MPI_Recv", result);
    return result;
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request)
{
    BEGIN("MPI_Irecv");
    int result = PMPI_Irecv(data, count, type, from, tag, comm, request);
    if (result == MPI_SUCCESS)
        remember(*request, comm);
    END("MPI_Irecv", result);
    return result;
}

int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag, void *in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    BEGIN("MPI_Sendrecv");
    sending(comm, to, out_tag, out_count, out_type);
    int result = PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
    if (result == MPI_SUCCESS)
        received(comm, status);
    END("MPI_Sendrecv", result);
    return result;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    MPI_Status own;
    MPI_Request was = *request;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    BEGIN("MPI_Wait");
    int result = PMPI_Wait(request, status);
    if (result == MPI_SUCCESS && was != MPI_REQUEST_NULL)
        completed(was, status);
    END("MPI_Wait", result);
    return result;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    MPI_Status own;
    MPI_Request was = *request;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    int result = PMPI_Test(request, flag, status);
    if (result == MPI_SUCCESS && *flag && was != MPI_REQUEST_NULL)
        completed(was, status);
    return result;
}

/* Copies of requests, which become MPI_REQUEST_NULL; and statuses, where the caller wants none. NULL where there is no memory. */
static MPI_Request *copies(int count, const MPI_Request *requests)
{
    MPI_Request *all = malloc(sizeof *all * (size_t)(count > 0 ? count : 1));
    for (int at = 0; all != NULL && at < count; at++)
        all[at] = requests[at];
    return all;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    MPI_Request *were = copies(count, requests);
    MPI_Status *own = statuses == MPI_STATUSES_IGNORE ? malloc(sizeof *own * (size_t)(count > 0 ? count : 1)) : NULL;
    if (own != NULL)
        statuses = own;
    BEGIN("MPI_Waitall");
    int result = PMPI_Waitall(count, requests, statuses);
    if (result == MPI_SUCCESS && were != NULL && statuses != MPI_STATUSES_IGNORE)
        for (int at = 0; at < count; at++)
            if (were[at] != MPI_REQUEST_NULL)
                completed(were[at], &statuses[at]);
    END("MPI_Waitall", result);
    free(were);
    free(own);
    return result;
}

int MPI_Waitany(int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    MPI_Status own;
    MPI_Request *were = copies(count, requests);
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    BEGIN("MPI_Waitany");
    int result = PMPI_Waitany(count, requests, index, status);
    if (result == MPI_SUCCESS && were != NULL && *index != MPI_UNDEFINED)
        completed(were[*index], status);
    END("MPI_Waitany", result);
    free(were);
    return result;
}

MAKES_COMM(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MAKES_COMM(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
MAKES_COMM(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
MAKES_COMM(MPI_Cart_create,
           (MPI_Comm comm, int dimensions, const int *sizes, const int *periods, int reorder, MPI_Comm *made),
           (comm, dimensions, sizes, periods, reorder, made))

PHASE(MPI_Barrier, (MPI_Comm comm), (comm))
PHASE(MPI_Bcast, (void *data, int count, MPI_Datatype type, int root, MPI_Comm comm), (data, count, type, root, comm))
PHASE(MPI_Reduce,
      (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
      (in, out, count, type, op, root, comm))
PHASE(MPI_Allreduce,
      (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (in, out, count, type, op, comm))
PHASE(MPI_Gather,
      (const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count, MPI_Datatype out_type, int root, MPI_Comm comm),
      (in, in_count, in_type, out, out_count, out_type, root, comm))
PHASE(MPI_Allgather,
      (const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count, MPI_Datatype out_type, MPI_Comm comm),
      (in, in_count, in_type, out, out_count, out_type, comm))
PHASE(MPI_Scatter,
      (const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count, MPI_Datatype out_type, int root, MPI_Comm comm),
      (in, in_count, in_type, out, out_count, out_type, root, comm))
PHASE(MPI_Alltoall,
      (const void *in, int in_count, MPI_Datatype in_type, void *out, int out_count, MPI_Datatype out_type, MPI_Comm comm),
      (in, in_count, in_type, out, out_count, out_type, comm))
PHASE(MPI_Finalize, (void), ())
