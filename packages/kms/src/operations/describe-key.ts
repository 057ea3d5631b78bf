import type { DescribeKeyInput, KeyOutput } from '../api.ts'
import { checkGrantTokens, parseKeyId } from '../checks.ts'
import { metadataOf, type Operation } from './operation.ts'

export const describeKey: Operation<DescribeKeyInput, KeyOutput> = {
  name: 'DescribeKey',
  async run({ keys, location }, input, trail) {
    trail.key = parseKeyId(input.KeyId)
    checkGrantTokens(input.GrantTokens)
    const key = await keys.find(trail.key)
    trail.key = key.arn
    return { KeyMetadata: metadataOf(key, location) }
  },
}
