// SPDX-License-Identifier: Apache-2.0
//
// Tests PETSc: it solves a convection-diffusion equation on a grid by GMRES and by conjugate
// gradients. The error against the known solution must be small. The output has no digit that
// depends on the order of a sum.
#include <petscksp.h>

static PetscErrorCode assemble(PetscInt n, PetscReal wind, Mat* a) {
  PetscInt first, last;
  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 3, NULL, a));
  PetscCall(MatGetOwnershipRange(*a, &first, &last));
  for (PetscInt row = first; row < last; ++row) {
    const PetscInt i = row / n, j = row % n;
    if (i > 0) PetscCall(MatSetValue(*a, row, row - n, -1, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(*a, row, row + n, -1, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(*a, row, row - 1, -1 - wind, INSERT_VALUES));
    if (j < n - 1) PetscCall(MatSetValue(*a, row, row + 1, -1 + wind, INSERT_VALUES));
    PetscCall(MatSetValue(*a, row, row, 4, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode solve(PetscInt n, PetscReal wind, KSPType method, PCType preconditioner) {
  Mat a;
  Vec exact, b, x;
  KSP solver;
  PetscInt first, last, iterations;
  PetscReal error, size;
  KSPConvergedReason reason;
  PetscFunctionBeginUser;
  PetscCall(assemble(n, wind, &a));
  PetscCall(MatCreateVecs(a, &x, &b));
  PetscCall(VecDuplicate(x, &exact));
  PetscCall(VecGetOwnershipRange(exact, &first, &last));
  for (PetscInt row = first; row < last; ++row)
    PetscCall(VecSetValue(exact, row, 1.0 + (row % 17) / 17.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(exact));
  PetscCall(VecAssemblyEnd(exact));
  PetscCall(MatMult(a, exact, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(KSPSetOperators(solver, a, a));
  PetscCall(KSPSetType(solver, method));
  PC pc;
  PetscCall(KSPGetPC(solver, &pc));
  PetscCall(PCSetType(pc, preconditioner));
  PetscCall(KSPSetTolerances(solver, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 2000));
  PetscCall(KSPSolve(solver, b, x));
  PetscCall(KSPGetConvergedReason(solver, &reason));
  PetscCall(KSPGetIterationNumber(solver, &iterations));
  PetscCall(VecNorm(exact, NORM_2, &size));
  PetscCall(VecAXPY(x, -1, exact));
  PetscCall(VecNorm(x, NORM_2, &error));
  PetscCheck(reason > 0 && error < 1e-6 * size, PETSC_COMM_WORLD, PETSC_ERR_CONV_FAILED,
             "reason %d, error %g of %g", reason, (double)error, (double)size);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s: %d unknowns, %d iterations, norm %.6f\n", method,
                        preconditioner, (int)(n * n), (int)iterations, (double)size));
  PetscCall(KSPDestroy(&solver));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&exact));
  PetscCall(MatDestroy(&a));
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(solve(48, 0, KSPCG, PCJACOBI));
  PetscCall(solve(48, 0.3, KSPGMRES, PCBJACOBI));
  PetscCall(solve(32, 0.1, KSPBCGS, PCASM));
  PetscCall(solve(24, 0, KSPPIPECG, PCJACOBI));  // by nonblocking reductions
  PetscCall(PetscFinalize());
  return 0;
}
