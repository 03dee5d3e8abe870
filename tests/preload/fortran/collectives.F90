! SPDX-License-Identifier: Apache-2.0
!
! Tests all collectives from Fortran, blocking and nonblocking, checked on every rank. Uses
! MPI_IN_PLACE, MPI_BOTTOM, and an operator and a datatype of the program. Compiled three times: for
! mpif.h (BY_MPIF), for the module mpi (BY_MPI) and for mpi_f08 (BY_F08).
#ifdef BY_F08
#define COMM_T type(MPI_Comm)
#define TYPE_T type(MPI_Datatype)
#define OP_T type(MPI_Op)
#define REQUEST_T type(MPI_Request)
#define STATUSES_T(n) type(MPI_Status), dimension(n)
#else
#define COMM_T integer
#define TYPE_T integer
#define OP_T integer
#define REQUEST_T integer
#define STATUSES_T(n) integer, dimension(MPI_STATUS_SIZE, n)
#endif

module common_parts
#ifdef BY_F08
  use mpi_f08
#endif
#ifdef BY_MPI
  use mpi
#endif
  implicit none
#ifdef BY_MPIF
  include 'mpif.h'
#endif
  integer :: rank, ranks
  integer :: cases = 0
contains

  ! The contribution of rank r to element i.
  pure integer function brings(r, i)
    integer, intent(in) :: r, i
    brings = (r + 1) * 1000 + i
  end function

  ! The sum of the contributions of ranks 0 to last.
  pure integer function total(last, i)
    integer, intent(in) :: last, i
    total = 1000 * (last + 1) * (last + 2) / 2 + (last + 1) * i
  end function

  subroutine check(name, got, expected)
    character(*), intent(in) :: name
    integer, intent(in) :: got(:), expected(:)
    integer :: i, ierr
    cases = cases + 1
    do i = 1, size(expected)
      if (got(i) /= expected(i)) then
        write (0, '(a,i0,a,i0,3a,i0,a,i0,a,i0)') 'FAILED rank ', rank, ' of ', ranks, ': ', name, ': element ', i, ' is ', got(i), &
          ', should be ', expected(i)
        call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
      end if
    end do
  end subroutine

  ! A product of 2x2 matrices modulo a prime, which is not commutative.
  pure function product_of(a, b) result(c)
    integer, intent(in) :: a(4), b(4)
    integer :: c(4)
    c = [mod(a(1) * b(1) + a(3) * b(2), 10007), mod(a(2) * b(1) + a(4) * b(2), 10007), &
         mod(a(1) * b(3) + a(3) * b(4), 10007), mod(a(2) * b(3) + a(4) * b(4), 10007)]
  end function

  pure function matrix(r, i) result(m)
    integer, intent(in) :: r, i
    integer :: m(4)
    m = [r + 2, 1, i, mod(r * 3 + i, 97)]
  end function

#ifdef BY_F08
  subroutine multiply(a, b, n, type)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: a, b
    integer :: n
    TYPE_T :: type
    integer, pointer :: left(:, :), right(:, :)
    integer :: i
    call c_f_pointer(a, left, [4, n])
    call c_f_pointer(b, right, [4, n])
    do i = 1, n
      right(:, i) = product_of(left(:, i), right(:, i))
    end do
  end subroutine
#else
  subroutine multiply(left, right, n, type)
    integer :: n, type
    integer :: left(4, n), right(4, n)
    integer :: i
    do i = 1, n
      right(:, i) = product_of(left(:, i), right(:, i))
    end do
  end subroutine
#endif
end module

program collectives
  use common_parts
  implicit none
  integer :: ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call moves(.false.)
  call moves(.true.)
  call uneven(.false.)
  call uneven(.true.)
  call reductions(.false.)
  call reductions(.true.)
  call in_place
  call bottom
  call rows
  call own_operator
  call several
  call parts
  call MPI_Finalize(ierr)
  if (rank == 0) print '(a,i0,a)', 'fortran: ', cases, ' cases'

contains

  ! Waits if the call is nonblocking.
  subroutine finish(nonblocking, request)
    logical, intent(in) :: nonblocking
    REQUEST_T, intent(inout) :: request
    integer :: ierr
    if (nonblocking) call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  end subroutine

  subroutine moves(nonblocking)
    logical, intent(in) :: nonblocking
    integer, parameter :: n = 7
    integer :: mine(n), all(n * ranks), expected(n * ranks), got(n), root, i, r
    REQUEST_T :: request
    do root = 0, ranks - 1
      got = -1
      if (rank == root) got = [(brings(root, i), i=1, n)]
      if (nonblocking) then
        call MPI_Ibcast(got, n, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierr)
      else
        call MPI_Bcast(got, n, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
      end if
      call finish(nonblocking, request)
      call check('bcast', got, [(brings(root, i), i=1, n)])

      mine = [(brings(rank, i), i=1, n)]
      expected = [((brings(r, i), i=1, n), r=0, ranks - 1)]
      all = -1
      if (nonblocking) then
        call MPI_Igather(mine, n, MPI_INTEGER, all, n, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierr)
      else
        call MPI_Gather(mine, n, MPI_INTEGER, all, n, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
      end if
      call finish(nonblocking, request)
      if (rank == root) call check('gather', all, expected)

      got = -1
      all = expected
      if (nonblocking) then
        call MPI_Iscatter(all, n, MPI_INTEGER, got, n, MPI_INTEGER, root, MPI_COMM_WORLD, request, ierr)
      else
        call MPI_Scatter(all, n, MPI_INTEGER, got, n, MPI_INTEGER, root, MPI_COMM_WORLD, ierr)
      end if
      call finish(nonblocking, request)
      call check('scatter', got, mine)
    end do

    all = -1
    if (nonblocking) then
      call MPI_Iallgather(mine, n, MPI_INTEGER, all, n, MPI_INTEGER, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Allgather(mine, n, MPI_INTEGER, all, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
    call check('allgather', all, expected)

    all = -1
    expected = [((brings(rank, r * 10 + i), i=1, n), r=0, ranks - 1)]  ! what is sent
    if (nonblocking) then
      call MPI_Ialltoall(expected, n, MPI_INTEGER, all, n, MPI_INTEGER, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Alltoall(expected, n, MPI_INTEGER, all, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
    call check('alltoall', all, [((brings(r, rank * 10 + i), i=1, n), r=0, ranks - 1)])

    if (nonblocking) then
      call MPI_Ibarrier(MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
  end subroutine

  ! Rank r has r mod 3 elements; the blocks begin four elements apart.
  subroutine uneven(nonblocking)
    logical, intent(in) :: nonblocking
    integer :: counts(ranks), displs(ranks), ones(ranks), bytes(ranks), all(4 * ranks), expected(4 * ranks), got(4), r, i, n
    TYPE_T :: types(ranks)
    REQUEST_T :: request
    counts = [(mod(r, 3), r=0, ranks - 1)]
    displs = [(4 * r, r=0, ranks - 1)]
    n = counts(rank + 1)
    expected = -1
    do r = 0, ranks - 1
      do i = 1, counts(r + 1)
        expected(4 * r + i) = brings(r, i)
      end do
    end do
    got = [(brings(rank, i), i=1, 4)]
    all = -1
    if (nonblocking) then
      call MPI_Igatherv(got, n, MPI_INTEGER, all, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Gatherv(got, n, MPI_INTEGER, all, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
    if (rank == 0) call check('gatherv', all, expected)
    all = -1
    if (nonblocking) then
      call MPI_Iallgatherv(got, n, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Allgatherv(got, n, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
    call check('allgatherv', all, expected)
    got = -1
    if (nonblocking) then
      call MPI_Iscatterv(expected, counts, displs, MPI_INTEGER, got, n, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Scatterv(expected, counts, displs, MPI_INTEGER, got, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
    call check('scatterv', got, [(merge(brings(rank, i), -1, i <= n), i=1, 4)])

    ! Each rank sends me as many elements as I have; their values identify both ranks.
    expected = -1
    do r = 0, ranks - 1
      do i = 1, n
        expected(4 * r + i) = brings(r, rank * 10 + i)
      end do
    end do
    all = -1
    ones = n
    call send_all(nonblocking, counts, displs, ones, all, request)
    call check('alltoallv', all, expected)
    if (ranks > 1) then
      all = -1
      bytes = displs * 4
      types = MPI_INTEGER
      call send_all_typed(nonblocking, counts, bytes, types, ones, all, request)
      call check('alltoallw', all, expected)
    end if
  end subroutine

  subroutine send_all(nonblocking, counts, displs, mine, all, request)
    logical, intent(in) :: nonblocking
    integer, intent(in) :: counts(:), displs(:), mine(:)
    integer, intent(inout) :: all(:)
    REQUEST_T, intent(inout) :: request
    integer :: sent(4 * ranks), r, i
    sent = [((brings(rank, r * 10 + i), i=1, 4), r=0, ranks - 1)]
    if (nonblocking) then
      call MPI_Ialltoallv(sent, counts, displs, MPI_INTEGER, all, mine, displs, MPI_INTEGER, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Alltoallv(sent, counts, displs, MPI_INTEGER, all, mine, displs, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
  end subroutine

  subroutine send_all_typed(nonblocking, counts, bytes, types, mine, all, request)
    logical, intent(in) :: nonblocking
    integer, intent(in) :: counts(:), bytes(:), mine(:)
    TYPE_T, intent(in) :: types(:)
    integer, intent(inout) :: all(:)
    REQUEST_T, intent(inout) :: request
    integer :: sent(4 * ranks), r, i
    sent = [((brings(rank, r * 10 + i), i=1, 4), r=0, ranks - 1)]
    if (nonblocking) then
      call MPI_Ialltoallw(sent, counts, bytes, types, all, mine, bytes, types, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Alltoallw(sent, counts, bytes, types, all, mine, bytes, types, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
  end subroutine

  subroutine reductions(nonblocking)
    logical, intent(in) :: nonblocking
    integer, parameter :: n = 9
    integer :: mine(n), got(n), whole(2 * ranks), counts(ranks), i
    REQUEST_T :: request
    mine = [(brings(rank, i), i=1, n)]
    got = -1
    if (nonblocking) then
      call MPI_Iallreduce(mine, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Allreduce(mine, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
    call check('allreduce', got, [(total(ranks - 1, i), i=1, n)])
    got = -1
    if (nonblocking) then
      call MPI_Ireduce(mine, got, n, MPI_INTEGER, MPI_SUM, ranks - 1, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Reduce(mine, got, n, MPI_INTEGER, MPI_SUM, ranks - 1, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
    if (rank == ranks - 1) call check('reduce', got, [(total(ranks - 1, i), i=1, n)])
    got = -1
    if (nonblocking) then
      call MPI_Iscan(mine, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Scan(mine, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
    call check('scan', got, [(total(rank, i), i=1, n)])
    got = -1
    if (nonblocking) then
      call MPI_Iexscan(mine, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Exscan(mine, got, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
    if (rank > 0) call check('exscan', got, [(total(rank - 1, i), i=1, n)])
    whole = [(brings(rank, i), i=1, 2 * ranks)]
    counts = 2
    got = -1
    if (nonblocking) then
      call MPI_Ireduce_scatter(whole, got, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Reduce_scatter(whole, got, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
    call check('reduce_scatter', got, [(total(ranks - 1, 2 * rank + i), i=1, 2), (-1, i=3, n)])
    got = -1
    if (nonblocking) then
      call MPI_Ireduce_scatter_block(whole, got, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
    else
      call MPI_Reduce_scatter_block(whole, got, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    end if
    call finish(nonblocking, request)
    call check('reduce_scatter_block', got, [(total(ranks - 1, 2 * rank + i), i=1, 2), (-1, i=3, n)])
  end subroutine

  subroutine in_place
    integer :: x(5), all(5 * ranks), expected(5 * ranks), i, r
    REQUEST_T :: request
    expected = [((brings(r, i), i=1, 5), r=0, ranks - 1)]
    x = [(brings(rank, i), i=1, 5)]
    call MPI_Allreduce(MPI_IN_PLACE, x, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check('allreduce in place', x, [(total(ranks - 1, i), i=1, 5)])
    x = [(brings(rank, i), i=1, 5)]
    call MPI_Iallreduce(MPI_IN_PLACE, x, 5, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call check('iallreduce in place', x, [(total(ranks - 1, i), i=1, 5)])
    all = -1
    all(5 * rank + 1:5 * rank + 5) = [(brings(rank, i), i=1, 5)]
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 5, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check('allgather in place', all, expected)
    x = [(brings(rank, i), i=1, 5)]
    all = -1
    if (rank == 0) then
      all(1:5) = x
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 5, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      call check('gather in place', all, expected)
      call MPI_Scatter(all, 5, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD, ierr)
      call MPI_Reduce(MPI_IN_PLACE, x, 5, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
      call check('reduce in place', x, [(total(ranks - 1, i), i=1, 5)])
    else
      call MPI_Gather(x, 5, MPI_INTEGER, all, 5, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      x = -1
      call MPI_Scatter(all, 5, MPI_INTEGER, x, 5, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
      call check('scatter in place', x, [(brings(rank, i), i=1, 5)])
      call MPI_Reduce(x, all, 5, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
    end if
    all = [((brings(rank, r * 10 + i), i=1, 5), r=0, ranks - 1)]
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 5, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check('alltoall in place', all, [((brings(r, rank * 10 + i), i=1, 5), r=0, ranks - 1)])
  end subroutine

  ! The datatype contains the address of the buffer.
  subroutine bottom
    integer, target, asynchronous :: x(10)
    integer(MPI_ADDRESS_KIND) :: at(2)
    integer :: lengths(2), i
    TYPE_T :: type
    REQUEST_T :: request
    call MPI_Get_address(x(2), at(1), ierr)
    call MPI_Get_address(x(7), at(2), ierr)
    lengths = [3, 2]
    call MPI_Type_create_hindexed(2, lengths, at, MPI_INTEGER, type, ierr)
    call MPI_Type_commit(type, ierr)
    do i = 0, 1
      x = -1
      if (rank == 0) x = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
      if (i == 0) then
        call MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD, ierr)
      else
        call MPI_Ibcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD, request, ierr)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
      end if
      call MPI_Get_address(x, at(1), ierr)  ! what has been written behind the compiler's back is read again
      if (rank > 0) call check('bcast from MPI_BOTTOM', x, [-1, 2, 3, 4, -1, -1, 7, 8, -1, -1])
    end do
    call MPI_Type_free(type, ierr)
  end subroutine

  ! A row of a matrix is a vector with gaps; gathered rows become columns.
  subroutine rows
    integer :: a(3, 4), all(4, ranks), i, r
    TYPE_T :: row
    a = -1
    a(2, :) = [(brings(rank, i), i=1, 4)]
    call MPI_Type_vector(4, 1, 3, MPI_INTEGER, row, ierr)
    call MPI_Type_commit(row, ierr)
    all = -1
    call MPI_Allgather(a(2, 1), 1, row, all, 4, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check('allgather of rows', reshape(all, [4 * ranks]), [((brings(r, i), i=1, 4), r=0, ranks - 1)])
    a = -1
    if (rank == 0) a(1, :) = [5, 6, 7, 8]
    call MPI_Bcast(a(1, 1), 1, row, 0, MPI_COMM_WORLD, ierr)
    call check('bcast of a row', a(1, :), [5, 6, 7, 8])
    call check('bcast of a row: the others', reshape(a(2:3, :), [8]), [(-1, i=1, 8)])
    call MPI_Type_free(row, ierr)
  end subroutine

  subroutine own_operator
    integer, parameter :: n = 6
    integer :: mine(4, n), got(4, n), expected(4, n), i, r
    TYPE_T :: type
    OP_T :: op
    REQUEST_T :: request
    call MPI_Type_contiguous(4, MPI_INTEGER, type, ierr)
    call MPI_Type_commit(type, ierr)
    call MPI_Op_create(multiply, .false., op, ierr)
    do i = 1, n
      mine(:, i) = matrix(rank, i)
      expected(:, i) = matrix(0, i)
      do r = 1, ranks - 1
        expected(:, i) = product_of(expected(:, i), matrix(r, i))
      end do
    end do
    got = -1
    call MPI_Allreduce(mine, got, n, type, op, MPI_COMM_WORLD, ierr)
    call check('allreduce by an operator of its own', reshape(got, [4 * n]), reshape(expected, [4 * n]))
    got = -1
    call MPI_Ireduce(mine, got, n, type, op, ranks / 2, MPI_COMM_WORLD, request, ierr)
    call MPI_Op_free(op, ierr)
    call MPI_Type_free(type, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    if (rank == ranks / 2) call check('ireduce by an operator of its own', reshape(got, [4 * n]), reshape(expected, [4 * n]))
  end subroutine

  ! Completes several requests together, with and without statuses, including a message.
  subroutine several
    integer, parameter :: n = 4
    integer, asynchronous :: x(3, n), from_left
    REQUEST_T :: requests(n + 2)
    STATUSES_T(n + 2) :: statuses
    integer :: i, way, done, got, indices(n + 2), left
    logical :: flag
    do way = 1, 4
      x = -1
      from_left = -1
      call MPI_Irecv(from_left, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), 5, MPI_COMM_WORLD, requests(n + 1), ierr)
      do i = 1, n
        if (rank == mod(i, ranks)) x(:, i) = [i, i + 1, i + 2]
        call MPI_Ibcast(x(1, i), 3, MPI_INTEGER, mod(i, ranks), MPI_COMM_WORLD, requests(i), ierr)
      end do
      call MPI_Isend(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 5, MPI_COMM_WORLD, requests(n + 2), ierr)
      select case (way)
      case (1)
        call MPI_Waitall(n + 2, requests, statuses, ierr)
      case (2)
        call MPI_Waitall(n + 2, requests, MPI_STATUSES_IGNORE, ierr)
      case (3)
        do i = 1, n + 2
          call MPI_Waitany(n + 2, requests, got, MPI_STATUS_IGNORE, ierr)
#ifdef BY_F08
          got = max(got, 1)  ! MPICH 4.0.2 counts from 0 there
#endif
          if (got < 1 .or. got > n + 2) call check('waitany', [got], [1])
        end do
      case (4)
        left = n + 2
        do while (left > 0)
          call MPI_Testsome(n + 2, requests, done, indices, statuses, ierr)
          left = left - done
        end do
      end select
      call MPI_Testall(n + 2, requests, flag, MPI_STATUSES_IGNORE, ierr)
      call check('all are complete', [merge(1, 0, flag)], [1])
      do i = 1, n
        call check('ibcasts together', x(:, i), [i, i + 1, i + 2])
      end do
      call check('a message among them', [from_left], [mod(rank + ranks - 1, ranks)])
    end do
  end subroutine

  ! On a communicator of some ranks, which is then freed.
  subroutine parts
    COMM_T :: comm
    integer :: mine, got, i, members, number
    do i = 1, 5
      call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, comm, ierr)
      call MPI_Comm_size(comm, members, ierr)
      call MPI_Comm_rank(comm, number, ierr)
      mine = number + 1
      call MPI_Allreduce(mine, got, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
      call check('allreduce of some', [got], [members * (members + 1) / 2])
      call MPI_Comm_free(comm, ierr)
    end do
  end subroutine
end program
