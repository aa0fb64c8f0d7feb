/* Passes a number round a ring, with blocking calls through MPI_COMM_WORLD and with others through a communicator of the even and of the odd ranks. */
#include <mpi.h>
#include <stdio.h>

static void round_of(MPI_Comm comm, int times)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    for (int time = 0; time < times && size > 1; time++) {
        int out[2] = {rank, time}, in[2];
        MPI_Request requests[2];
        MPI_Irecv(in, 2, MPI_INT, last, 7, comm, &requests[0]);
        MPI_Isend(out, 2, MPI_INT, next, 7, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, size, value = 0;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int time = 0; time < 5 && size > 1; time++) {
        if (rank == 0) {
            MPI_Send(&value, 1, MPI_INT, 1, time, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, size - 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, time, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            value++;
            MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, time, MPI_COMM_WORLD);
        }
    }
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    round_of(half, 3);
    round_of(MPI_COMM_WORLD, 2);
    MPI_Comm_free(&half);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d\n", value);
    MPI_Finalize();
    return 0;
}
