import type { DescribeKeyInput, KeyOutput } from '../api.ts'
import { checkGrantTokens, keyIdIn } from '../checks.ts'
import { metadataOf } from './metadata.ts'
import type { Operation } from './operation.ts'

export const describeKey: Operation<DescribeKeyInput, KeyOutput> = {
  name: 'DescribeKey',
  async run({ keys, location }, input, trail) {
    trail.key = keyIdIn(input.KeyId)
    checkGrantTokens(input.GrantTokens)
    const key = await keys.find(trail.key)
    trail.key = key.arn
    return { KeyMetadata: metadataOf(key, location) }
  },
}
