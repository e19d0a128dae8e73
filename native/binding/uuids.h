#ifndef GRAUPEL_BINDING_UUIDS_H_
#define GRAUPEL_BINDING_UUIDS_H_

#include <node_api.h>

namespace graupel {

// writeUuids(ids, from, to, frame, random, uuids): PackUuids() of core/uuid.h, to the
// front of a Uint8Array. `frame` has the fields of UuidFrame, `random` an Int32Array.
napi_value WriteUuids(napi_env env, napi_callback_info info);

// uuidText(): the text of the UUID in the mailbox.
napi_value UuidText(napi_env env, napi_callback_info info);

}  // namespace graupel

#endif  // GRAUPEL_BINDING_UUIDS_H_
