/* Arrays from Python, for PyArg_ParseTuple's O&: doubles or integers in one piece, never objects, whose
   pointers would be read as numbers and written over. */

static int array_of(PyObject *from, void *to, int flags)
{
    Py_buffer *x = to;
    if (!from) { /* a later argument was refused */
        PyBuffer_Release(x);
        return 1;
    }
    if (PyObject_GetBuffer(from, x, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags) < 0)
        return 0;
    const size_t length = x->format ? strlen(x->format) : 0;
    if (length && strchr("dilq", x->format[length - 1]))
        return Py_CLEANUP_SUPPORTED;
    PyBuffer_Release(x);
    PyErr_SetString(PyExc_ValueError, "an array for the kernel must hold doubles or integers");
    return 0;
}

static int readable(PyObject *from, void *to)
{
    return array_of(from, to, 0);
}

static int writable(PyObject *from, void *to)
{
    return array_of(from, to, PyBUF_WRITABLE);
}
