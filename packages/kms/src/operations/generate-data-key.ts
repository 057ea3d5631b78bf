import { randomFillSync } from 'node:crypto'
import type { BlobOutput, GenerateDataKeyInput, GenerateDataKeyOutput } from '../api.ts'
import { parseContext, parseKeyId, parseInteger, type Unchecked } from '../checks.ts'
import { validationError } from '../errors.ts'
import { checkCommon, seal, usableKey } from './cryptography.ts'
import type { Operation, KmsContext, AuditFields } from './operation.ts'

const KEY_SPECS: ReadonlyMap<unknown, number> = new Map([
  ['AES_128', 16],
  ['AES_256', 32],
])

export const generateDataKey: Operation<GenerateDataKeyInput, GenerateDataKeyOutput> = {
  name: 'GenerateDataKey',
  run: generate,
}

export const generateDataKeyWithoutPlaintext: Operation<GenerateDataKeyInput, BlobOutput> = {
  name: 'GenerateDataKeyWithoutPlaintext',
  async run(services, input, trail) {
    const { Plaintext, ...output } = await generate(services, input, trail)
    Plaintext.fill(0)
    return output
  },
}

async function generate(
  { keys }: KmsContext,
  input: Unchecked<GenerateDataKeyInput>,
  trail: AuditFields,
): Promise<GenerateDataKeyOutput> {
  trail.key = parseKeyId(input.KeyId)
  trail.context = parseContext(input.EncryptionContext)
  const size = sizeOf(input)
  checkCommon(input)
  const key = await usableKey(keys, trail.key)
  trail.key = key.arn
  const plaintext = randomFillSync(new Uint8Array(size))
  return {
    KeyId: key.arn,
    Plaintext: plaintext,
    CiphertextBlob: await seal(keys, key, trail.context, plaintext),
  }
}

function sizeOf({ NumberOfBytes, KeySpec }: Unchecked<GenerateDataKeyInput>): number {
  if ((NumberOfBytes === undefined) === (KeySpec === undefined)) {
    throw validationError('Give either NumberOfBytes or KeySpec')
  }
  if (KeySpec === undefined) return parseInteger(NumberOfBytes, 'NumberOfBytes', 1, 1024)
  const size = KEY_SPECS.get(KeySpec)
  if (size === undefined) throw validationError('KeySpec must be AES_128 or AES_256')
  return size
}
