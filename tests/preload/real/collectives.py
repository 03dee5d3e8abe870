# SPDX-License-Identifier: Apache-2.0
#
# Tests every collective of mpi4py, on NumPy arrays and on pickled objects, blocking and
# nonblocking, checked on every rank.
import sys

import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
cases = 0


def check(name, got, expected):
    """Ends the job where they differ."""
    global cases
    cases += 1
    same = np.array_equal(got, expected) if isinstance(expected, np.ndarray) else got == expected
    if not same:
        print(f'FAILED rank {rank} of {ranks}: {name}: {got!r}, should be {expected!r}', file=sys.stderr, flush=True)
        world.Abort(1)


def brings(r, n, dtype='d'):
    """What rank r brings: n numbers whose sums are exact."""
    return ((np.arange(n) * 7 + r * 13) % 101).astype(dtype)


def arrays(comm, nonblocking):
    rank, ranks = comm.Get_rank(), comm.Get_size()

    def call(name, *arguments, **named):
        if nonblocking:
            getattr(comm, 'I' + name.lower())(*arguments, **named).Wait()
        else:
            getattr(comm, name)(*arguments, **named)

    call('Barrier')
    for dtype in 'i', 'd', 'F', 'b':
        for n in 1, 33, 5000:
            mine = brings(rank, n, dtype)
            everything = np.concatenate([brings(r, n, dtype) for r in range(ranks)])
            got = mine.copy() if rank == ranks - 1 else np.zeros(n, dtype)
            call('Bcast', got, root=ranks - 1)
            check('Bcast', got, brings(ranks - 1, n, dtype))
            got = np.zeros(n * ranks, dtype)
            call('Gather', mine, got if rank == 0 else None, root=0)
            check('Gather', got, everything if rank == 0 else np.zeros(n * ranks, dtype))
            call('Allgather', mine, got)
            check('Allgather', got, everything)
            got = np.zeros(n, dtype)
            call('Scatter', everything if rank == 0 else None, got, root=0)
            check('Scatter', got, mine)
            sent = np.concatenate([brings(rank * ranks + r, n, dtype) for r in range(ranks)])
            got = np.zeros(n * ranks, dtype)
            call('Alltoall', sent, got)
            check('Alltoall', got, np.concatenate([brings(r * ranks + rank, n, dtype) for r in range(ranks)]))
    for op, of in (MPI.SUM, np.add), (MPI.MAX, np.maximum), (MPI.MIN, np.minimum):
        for n in 1, 33, 5000:
            rows = [brings(r, n) for r in range(ranks)]
            whole, until, before = of.reduce(rows), of.reduce(rows[:rank + 1]), of.reduce(rows[:rank]) if rank else None
            got = np.zeros(n)
            call('Allreduce', rows[rank], got, op)
            check('Allreduce', got, whole)
            got = rows[rank].copy()
            call('Allreduce', MPI.IN_PLACE, got, op)
            check('Allreduce in place', got, whole)
            got = np.zeros(n)
            call('Reduce', rows[rank], got if rank == 0 else None, op, root=0)
            if rank == 0:
                check('Reduce', got, whole)
            call('Scan', rows[rank], got, op)
            check('Scan', got, until)
            call('Exscan', rows[rank], got, op)
            if rank:
                check('Exscan', got, before)
            long = [brings(r, n * ranks) for r in range(ranks)]
            got = np.zeros(n)
            call('Reduce_scatter_block', long[rank], got, op)
            check('Reduce_scatter_block', got, of.reduce(long)[rank * n:(rank + 1) * n])
            counts = [n] * ranks
            call('Reduce_scatter', long[rank], got, counts, op)
            check('Reduce_scatter', got, of.reduce(long)[rank * n:(rank + 1) * n])
    uneven(comm, call)


def uneven(comm, call):
    rank, ranks = comm.Get_rank(), comm.Get_size()
    counts = [(r * 3 + 1) % 4 for r in range(ranks)]
    displs = [5 * r + 1 for r in range(ranks)]
    blocks = [brings(r, c) for r, c in enumerate(counts)]
    whole = np.full(5 * ranks + 5, -1.0)
    for r, block in enumerate(blocks):
        whole[displs[r]:displs[r] + counts[r]] = block
    got = np.full(5 * ranks + 5, -1.0)
    call('Allgatherv', blocks[rank], [got, counts, displs, MPI.DOUBLE])
    check('Allgatherv', got, whole)
    got = np.full(5 * ranks + 5, -1.0)
    call('Gatherv', blocks[rank], [got, counts, displs, MPI.DOUBLE] if rank == 0 else None, root=0)
    if rank == 0:
        check('Gatherv', got, whole)
    got = np.zeros(counts[rank])
    call('Scatterv', [whole, counts, displs, MPI.DOUBLE] if rank == 0 else None, got, root=0)
    check('Scatterv', got, blocks[rank])
    mine = [counts[rank]] * ranks
    sent = np.arange(5.0 * ranks + 5) + 1000 * rank
    got = np.full(5 * ranks + 5, -1.0)
    expected = got.copy()
    for r in range(ranks):
        expected[displs[r]:displs[r] + counts[rank]] = 1000 * r + displs[rank] + np.arange(counts[rank])
    call('Alltoallv', [sent, counts, displs, MPI.DOUBLE], [got, mine, displs, MPI.DOUBLE])
    check('Alltoallv', got, expected)
    # On one rank Open MPI 4.1.4 itself takes displacements as counts. On a topology it reads a type
    # for each neighbor.
    if ranks == 1 or comm.Get_topology() != MPI.UNDEFINED:
        return
    got = np.full(5 * ranks + 5, -1.0)
    bytes_of = [8 * d for d in displs]
    types = [MPI.DOUBLE] * ranks
    call('Alltoallw', [sent, counts, bytes_of, types], [got, mine, bytes_of, types])
    check('Alltoallw', got, expected)


def objects(comm):
    """Pickled objects: mpi4py exchanges lengths first, so there are more collectives than in the script."""
    rank, ranks = comm.Get_rank(), comm.Get_size()

    def thing(r):
        return {'rank': r, 'words': ['ab' * r, None, (1.5, r)], 'long': list(range(r * 50))}

    comm.barrier()
    check('bcast', comm.bcast(thing(ranks - 1) if rank == ranks - 1 else None, root=ranks - 1), thing(ranks - 1))
    every = [thing(r) for r in range(ranks)]
    check('gather', comm.gather(thing(rank), root=0), every if rank == 0 else None)
    check('allgather', comm.allgather(thing(rank)), every)
    check('scatter', comm.scatter(every if rank == 0 else None, root=0), thing(rank))
    check('alltoall', comm.alltoall([(rank, r, 'x' * r) for r in range(ranks)]), [(r, rank, 'x' * rank) for r in range(ranks)])
    check('allreduce', comm.allreduce([rank], MPI.SUM), list(range(ranks)))
    check('reduce', comm.reduce((rank, 'r'), MPI.MAX, root=0), (ranks - 1, 'r') if rank == 0 else None)
    check('scan', comm.scan(str(rank), lambda a, b: a + b), ''.join(str(r) for r in range(rank + 1)))
    before = comm.exscan([rank], MPI.SUM)
    if rank:
        check('exscan', before, list(range(rank)))
    check('allreduce of arrays', comm.allreduce(brings(rank, 9)), sum(brings(r, 9) for r in range(ranks)))


def own_operator(comm):
    """An operator in Python, that does not commute."""
    rank, ranks = comm.Get_rank(), comm.Get_size()

    def product(a, b, _):
        left, right = np.frombuffer(a, 'q').reshape(-1, 2, 2), np.frombuffer(b, 'q').reshape(-1, 2, 2)
        right[:] = (left @ right) % 10007

    op = MPI.Op.Create(product, commute=False)
    row = MPI.INT64_T.Create_contiguous(4).Commit()
    matrices = [np.array([[[r + 2, i], [1, r * 3 + i]] for i in range(6)], 'q') for r in range(ranks)]
    whole = matrices[0]
    for m in matrices[1:]:
        whole = (whole @ m) % 10007
    got = np.zeros((6, 2, 2), 'q')
    comm.Allreduce([matrices[rank], 6, row], [got, 6, row], op)
    check('Allreduce by an operator in Python', got, whole)
    got[:] = 0
    comm.Ireduce([matrices[rank], 6, row], [got, 6, row] if rank == ranks - 1 else None, op, root=ranks - 1).Wait()
    if rank == ranks - 1:
        check('Ireduce by an operator in Python', got, whole)
    row.Free()
    op.Free()


def several(comm):
    """Requests of collectives and of messages together."""
    rank, ranks = comm.Get_rank(), comm.Get_size()
    sums, all_of_them, token = np.zeros(100), np.zeros(ranks), np.zeros(1)
    requests = [comm.Irecv(token, (rank - 1) % ranks, 3), comm.Iallreduce(brings(rank, 100), sums),
                comm.Iallgather(np.array([float(rank)]), all_of_them), comm.Ibarrier(),
                comm.Isend(np.array([float(rank)]), (rank + 1) % ranks, 3)]
    MPI.Request.Waitall(requests)
    check('together: allreduce', sums, sum(brings(r, 100) for r in range(ranks)))
    check('together: allgather', all_of_them, np.arange(float(ranks)))
    check('together: a message', token[0], float((rank - 1) % ranks))


half = world.Split(rank % 2, -rank)
cart = world.Create_cart(MPI.Compute_dims(ranks, 2), periods=[True, False], reorder=True)
for comm in world, half, cart:
    arrays(comm, False)
    arrays(comm, True)
    objects(comm)
    own_operator(comm)
    several(comm)
half.Free()
cart.Free()
if rank == 0:
    print(f'mpi4py: {cases} cases')
