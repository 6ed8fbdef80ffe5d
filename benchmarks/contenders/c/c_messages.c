/* SPDX-FileCopyrightText: 2026 The kwire authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reference implementation for messages as objects: C code for one message version. It
 * creates an object per struct with functions of CPython, and has the checks of the
 * protocol.
 *
 * It includes the optimizations that were useful in kwire's engine: freed structs are
 * reused, an integer above 256 is shared within a message, and tuples are not tracked
 * by the garbage collector. It does not follow a plan, because fields, their order and
 * their number are part of the code. Tag sections must be empty, and errors have no
 * path.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

#define MEMO 256

struct input {
    const uint8_t *at;
    const uint8_t *end;
    int memo_used;
    int32_t numbers[MEMO];
    PyObject *ints[MEMO];
};

static PyObject *small_ints[262], *no_values, *no_text;

#define SLOTS(self) ((PyObject **)((char *)(self) + sizeof(PyObject)))
#define LEFT(in) ((in)->end - (in)->at)

/* The class of a struct with COUNT slots, and a list of its freed objects. */
#define STRUCT(NAME, COUNT)                                                           \
    static PyTypeObject *NAME##_class;                                                \
    static PyObject *NAME##_spare;                                                    \
    static void NAME##_free(PyObject *self)                                           \
    {                                                                                 \
        for (int slot = 0; slot < (COUNT); slot++)                                    \
            Py_XDECREF(SLOTS(self)[slot]);                                            \
        SLOTS(self)[0] = NAME##_spare;                                                \
        NAME##_spare = self;                                                          \
    }                                                                                 \
    static inline PyObject *NAME##_new(void)                                          \
    {                                                                                 \
        PyObject *made = NAME##_spare;                                                \
        if (made != NULL) {                                                           \
            NAME##_spare = SLOTS(made)[0];                                            \
            Py_SET_REFCNT(made, 1);                                                   \
            return made;                                                              \
        }                                                                             \
        made = PyObject_Malloc(sizeof(PyObject) + (COUNT) * sizeof(PyObject *));      \
        return made ? PyObject_Init(made, NAME##_class) : PyErr_NoMemory();           \
    }                                                                                 \
    static PyObject *NAME##_drop(PyObject *self, int slot)                            \
    {                                                                                 \
        for (; slot < (COUNT); slot++)                                                \
            SLOTS(self)[slot] = NULL;                                                 \
        Py_DECREF(self);                                                              \
        return NULL;                                                                  \
    }

/* Fill a slot of ``self``. If that fails, release ``self`` and return NULL. */
#define FILL(NAME, SLOT, VALUE)                                                       \
    if ((SLOTS(self)[SLOT] = (VALUE)) == NULL)                                        \
        return NAME##_drop(self, SLOT);

static PyObject *damaged(void)
{
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "the C loop cannot read the message");
    return NULL;
}

/* Share CPython's own small integers without a function call. */
static inline PyObject *make_int(int64_t number)
{
    if ((uint64_t)number + 5 < 262)
        return Py_NewRef(small_ints[number + 5]);
    return PyLong_FromLongLong(number);
}

static inline PyObject *read_int16(struct input *in)
{
    uint16_t raw;
    if (LEFT(in) < 2)
        return damaged();
    memcpy(&raw, in->at, 2);
    in->at += 2;
    return make_int((int16_t)__builtin_bswap16(raw));
}

static inline PyObject *share_int32(struct input *in, int32_t number)
{
    int place = (uint8_t)number;
    PyObject *made;
    if ((uint32_t)number + 5 < 262)
        return Py_NewRef(small_ints[number + 5]);
    if (!in->memo_used)
        memset(in->ints, 0, sizeof in->ints);
    in->memo_used = 1;
    if (in->ints[place] != NULL && in->numbers[place] == number)
        return Py_NewRef(in->ints[place]);
    if ((made = PyLong_FromLong(number)) != NULL && in->ints[place] == NULL) {
        in->numbers[place] = number;
        in->ints[place] = Py_NewRef(made);
    }
    return made;
}

static inline int32_t load_int32(const uint8_t *at)
{
    uint32_t raw;
    memcpy(&raw, at, 4);
    return (int32_t)__builtin_bswap32(raw);
}

static inline PyObject *read_int32(struct input *in)
{
    if (LEFT(in) < 4)
        return damaged();
    in->at += 4;
    return share_int32(in, load_int32(in->at - 4));
}

static inline PyObject *read_int64(struct input *in)
{
    uint64_t raw;
    if (LEFT(in) < 8)
        return damaged();
    memcpy(&raw, in->at, 8);
    in->at += 8;
    return make_int((int64_t)__builtin_bswap64(raw));
}

static inline PyObject *read_bool(struct input *in)
{
    if (LEFT(in) < 1)
        return damaged();
    return Py_NewRef(*in->at++ ? Py_True : Py_False);
}

/*
 * Read a length or count. Return -1 for null, and -2 if it is invalid or exceeds the
 * remaining input.
 */
static inline int64_t read_length(struct input *in, int64_t least)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 35 && in->at < in->end; shift += 7) {
        uint8_t byte = *in->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value > (uint64_t)(LEFT(in) / least) + 1 ? -2 : (int64_t)value - 1;
    }
    return -2;
}

static PyObject *read_text(struct input *in, int nullable)
{
    int64_t size = read_length(in, 1);
    const uint8_t *at = in->at;
    uint64_t bits = 0, word;
    uint8_t *to;
    PyObject *text;
    if (size == 0)
        return Py_NewRef(no_text);
    if (size == -1 && nullable)
        return Py_NewRef(Py_None);
    if (size < 0 || size > 32767)
        return damaged();
    if ((text = PyUnicode_New((Py_ssize_t)size, 127)) == NULL)
        return NULL;
    in->at += size;
    for (to = PyUnicode_1BYTE_DATA(text); in->at - at >= 8; at += 8, to += 8) {
        memcpy(&word, at, 8);
        memcpy(to, &word, 8);
        bits |= word;
    }
    for (; at < in->at; at++, to++)
        bits |= *to = *at;
    if (!(bits & 0x8080808080808080))
        return text;
    Py_DECREF(text);
    return PyUnicode_DecodeUTF8((const char *)in->at - size, (Py_ssize_t)size, "strict");
}

static inline PyObject *read_tags(struct input *in)
{
    if (LEFT(in) < 1 || *in->at != 0)
        return damaged();
    in->at++;
    return Py_NewRef(no_values);
}

static inline PyObject *read_array(struct input *in, int64_t least,
                                   PyObject *(*read)(struct input *))
{
    int64_t count = read_length(in, least);
    PyObject *made, *value;
    if (count == 0)
        return Py_NewRef(no_values);
    if (count < 0)
        return damaged();
    if ((made = PyTuple_New((Py_ssize_t)count)) == NULL)
        return NULL;
    for (Py_ssize_t index = 0; index < count; index++) {
        if ((value = read(in)) == NULL) {
            Py_DECREF(made);
            return NULL;
        }
        PyTuple_SET_ITEM(made, index, value);
    }
    PyObject_GC_UnTrack(made);
    return made;
}

STRUCT(owner, 6)
STRUCT(offsets_topic, 3)
STRUCT(group, 4)
STRUCT(offsets, 3)

static inline PyObject *read_owner(struct input *in)
{
    PyObject *self = owner_new();
    if (self == NULL)
        return NULL;
    FILL(owner, 0, read_int32(in))
    FILL(owner, 1, read_int64(in))
    FILL(owner, 2, read_int32(in))
    FILL(owner, 3, read_text(in, 1))
    FILL(owner, 4, read_int16(in))
    FILL(owner, 5, read_tags(in))
    return self;
}

static inline PyObject *read_offsets_topic(struct input *in)
{
    PyObject *self = offsets_topic_new();
    if (self == NULL)
        return NULL;
    FILL(offsets_topic, 0, read_text(in, 0))
    FILL(offsets_topic, 1, read_array(in, 20, read_owner))
    FILL(offsets_topic, 2, read_tags(in))
    return self;
}

static inline PyObject *read_group(struct input *in)
{
    PyObject *self = group_new();
    if (self == NULL)
        return NULL;
    FILL(group, 0, read_text(in, 0))
    FILL(group, 1, read_array(in, 3, read_offsets_topic))
    FILL(group, 2, read_int16(in))
    FILL(group, 3, read_tags(in))
    return self;
}

static PyObject *read_offsets(struct input *in)
{
    PyObject *self = offsets_new();
    if (self == NULL)
        return NULL;
    FILL(offsets, 0, read_int32(in))
    FILL(offsets, 1, read_array(in, 5, read_group))
    FILL(offsets, 2, read_tags(in))
    return self;
}

STRUCT(broker, 5)
STRUCT(partition, 8)
STRUCT(topic, 6)
STRUCT(metadata, 7)

static inline PyObject *read_broker(struct input *in)
{
    PyObject *self = broker_new();
    if (self == NULL)
        return NULL;
    FILL(broker, 0, read_int32(in))
    FILL(broker, 1, read_text(in, 0))
    FILL(broker, 2, read_int32(in))
    FILL(broker, 3, read_text(in, 1))
    FILL(broker, 4, read_tags(in))
    return self;
}

static inline PyObject *read_partition(struct input *in)
{
    PyObject *self = partition_new();
    if (self == NULL)
        return NULL;
    FILL(partition, 0, read_int16(in))
    FILL(partition, 1, read_int32(in))
    FILL(partition, 2, read_int32(in))
    FILL(partition, 3, read_int32(in))
    FILL(partition, 4, read_array(in, 4, read_int32))
    FILL(partition, 5, read_array(in, 4, read_int32))
    FILL(partition, 6, read_array(in, 4, read_int32))
    FILL(partition, 7, read_tags(in))
    return self;
}

static inline PyObject *read_topic(struct input *in)
{
    PyObject *self = topic_new();
    if (self == NULL)
        return NULL;
    FILL(topic, 0, read_int16(in))
    FILL(topic, 1, read_text(in, 0))
    FILL(topic, 2, read_bool(in))
    FILL(topic, 3, read_array(in, 18, read_partition))
    FILL(topic, 4, read_int32(in))
    FILL(topic, 5, read_tags(in))
    return self;
}

static PyObject *read_metadata(struct input *in)
{
    PyObject *self = metadata_new();
    if (self == NULL)
        return NULL;
    FILL(metadata, 0, read_int32(in))
    FILL(metadata, 1, read_array(in, 11, read_broker))
    FILL(metadata, 2, read_text(in, 1))
    FILL(metadata, 3, read_int32(in))
    FILL(metadata, 4, read_array(in, 10, read_topic))
    FILL(metadata, 5, read_int32(in))
    FILL(metadata, 6, read_tags(in))
    return self;
}

/* Create a class with one member per name. */
static PyTypeObject *make_class(const char *name, destructor free_one,
                                const char *const *names)
{
    static PyMemberDef members[64];
    static int used;
    PyMemberDef *first = &members[used];
    PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)free_one}, {Py_tp_members, first}, {0, NULL}};
    PyType_Spec spec = {name, 0, 0, Py_TPFLAGS_DEFAULT, slots};
    int count;
    for (count = 0; names[count] != NULL; count++)
        members[used++] = (PyMemberDef){
            names[count], T_OBJECT_EX,
            (Py_ssize_t)(sizeof(PyObject) + (size_t)count * sizeof(PyObject *)), READONLY,
            NULL};
    used++;
    spec.basicsize = (int)(sizeof(PyObject) + (size_t)count * sizeof(PyObject *));
    return (PyTypeObject *)PyType_FromSpec(&spec);
}

#define TAGS "unknown_tagged_fields"
#define CLASS(NAME, ...)                                                              \
    static const char *const NAME##_names[] = {__VA_ARGS__, TAGS, NULL};              \
    if ((NAME##_class = make_class(#NAME, NAME##_free, NAME##_names)) == NULL)        \
        return NULL;

/* Create the classes and cache the objects that CPython shares. */
PyObject *prepare(void)
{
    CLASS(owner, "partition_index", "committed_offset", "committed_leader_epoch",
          "metadata", "error_code")
    CLASS(offsets_topic, "name", "partitions")
    CLASS(group, "group_id", "topics", "error_code")
    CLASS(offsets, "throttle_time_ms", "groups")
    CLASS(broker, "node_id", "host", "port", "rack")
    CLASS(partition, "error_code", "partition_index", "leader_id", "leader_epoch",
          "replica_nodes", "isr_nodes", "offline_replicas")
    CLASS(topic, "error_code", "name", "is_internal", "partitions",
          "topic_authorized_operations")
    CLASS(metadata, "throttle_time_ms", "brokers", "cluster_id", "controller_id",
          "topics", "cluster_authorized_operations")
    for (int number = -5; number < 257; number++)
        small_ints[number + 5] = PyLong_FromLong(number);
    no_values = PyTuple_New(0);
    no_text = PyUnicode_New(0, 0);
    return Py_NewRef(Py_None);
}

static PyObject *read_all(PyObject *data, PyObject *(*read)(struct input *))
{
    struct input in;
    PyObject *made;
    in.at = (const uint8_t *)PyBytes_AS_STRING(data);
    in.end = in.at + PyBytes_GET_SIZE(data);
    in.memo_used = 0;
    made = read(&in);
    for (int place = 0; in.memo_used && place < MEMO; place++)
        Py_XDECREF(in.ints[place]);
    if (made != NULL && in.at != in.end) {
        Py_DECREF(made);
        return damaged();
    }
    return made;
}

static PyObject *decode_offset_fetch(PyObject *self, PyObject *data)
{
    return read_all(data, read_offsets);
}

static PyObject *decode_metadata(PyObject *self, PyObject *data)
{
    return read_all(data, read_metadata);
}

static PyMethodDef methods[] = {
    {"offset_fetch_v8", decode_offset_fetch, METH_O, NULL},
    {"metadata_v9_ids", decode_metadata, METH_O, NULL},
};

/* Return the decoder of one workload. Calling it is one call from Python into C. */
PyObject *function_of(int index)
{
    return PyCFunction_New(&methods[index], NULL);
}
