"""Random programs of one op each, over all ops, element types, shapes and values, by which engines are compared.

A case is made from its seed alone. Many cases share a module, as independent ops of one function, because that is how
the reference interpreter, which runs in a process of its own, gets through thousands of them.

    python -m tests.single_op --count 20000

compares the engine `fast` with the reference interpreter and prints a table: cases and mismatches by op. Left out is
what the interpreter gets wrong or dies of: integer division by zero, contraction of no elements, unsigned indices
(read as signed), total order of floats (compared as numbers), sorting of NaN, unstable sorting,
convolutions whose result has the feature before the batch.
"""
