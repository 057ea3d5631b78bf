import type { CreateKeyInput, KeyOutput } from '../api.ts'
import { keyArn, newKeyId } from '../arn.ts'
import { rejectUnsupported, parseText } from '../checks.ts'
import { conflict, validationError } from '../errors.ts'
import type { KeyRecord } from '../key-storage.ts'
import { requireMasterKey } from '../master-key/key.ts'
import { newBackingKey } from './cryptography.ts'
import { metadataOf, type Operation } from './operation.ts'

export const createKey: Operation<CreateKeyInput, KeyOutput> = {
  name: 'CreateKey',
  async run({ storage, wrapping, location, clock }, input, trail) {
    const { Description = '', MultiRegion = false } = input
    const description = parseText(Description, 'Description', 0, 8192)
    if (typeof MultiRegion !== 'boolean') throw validationError('MultiRegion must be a boolean')
    rejectUnsupported(input, {
      KeySpec: ['SYMMETRIC_DEFAULT'],
      CustomerMasterKeySpec: ['SYMMETRIC_DEFAULT'],
      KeyUsage: ['ENCRYPT_DECRYPT'],
      Origin: ['AWS_KMS'],
      CustomKeyStoreId: [],
      XksKeyId: [],
      Policy: [],
      Tags: [],
    })
    // If a store had keys of two master keys, no process could use all of them.
    await requireMasterKey(storage, wrapping.check)
    const id = newKeyId({ multiRegion: MultiRegion })
    const arn = keyArn(location, id)
    const first = newBackingKey(wrapping, clock, id, 1)
    const record: KeyRecord = {
      id,
      arn,
      description,
      createdAt: first.createdAt,
      masterKeyCheck: wrapping.check,
      state: 'Enabled',
      currentVersion: first.version,
      revision: 1,
    }
    if (!(await storage.create(record, first))) throw conflict('A key of this id exists: try again')
    trail.key = arn
    return { KeyMetadata: metadataOf({ arn, record }, location) }
  },
}
