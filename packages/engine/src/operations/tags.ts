/** TagResource, UntagResource and ListTagsOfResource: labels on tables, kept and shown. */
import type {
  ListTagsOfResourceInput,
  ListTagsOfResourceOutput,
  TagResourceInput,
  UntagResourceInput,
} from '../db.ts'
import { validationError } from '../errors.ts'
import { tableOfArn } from '../validation/names.ts'
import { list, string, structure } from '../validation/shapes.ts'
import { tags } from '../validation/table-shapes.ts'
import { detailsOf, withDetails } from './describe.ts'
import type { Operation } from './operation.ts'

const MOST_TAGS = 50
const arn = string({ min: 1, max: 1283 })

export const tagResource: Operation<TagResourceInput, object> = {
  name: 'TagResource',
  input: structure('TagResourceInput', { 'ResourceArn!': arn, 'Tags!': tags }),

  async run({ storage }, input) {
    const table = tableOfArn(storage, input.ResourceArn)
    if (input.Tags.length === 0)
      throw validationError('Atleast one Tag needs to be provided as Input.')
    const merged = new Map<string, string>()
    for (const { Key, Value } of detailsOf(table).tags ?? []) merged.set(Key, Value)
    for (const { Key, Value } of input.Tags) merged.set(Key, Value)
    if (merged.size > MOST_TAGS) {
      throw validationError(
        `One or more parameter values were invalid: Too many tags: ${merged.size}, limit: ${MOST_TAGS}`,
      )
    }
    await storage.replaceTable(
      withDetails(table, { tags: [...merged].map(([Key, Value]) => ({ Key, Value })) }),
    )
    return {}
  },
}

export const untagResource: Operation<UntagResourceInput, object> = {
  name: 'UntagResource',
  input: structure('UntagResourceInput', { 'ResourceArn!': arn, 'TagKeys!': list(string()) }),

  async run({ storage }, input) {
    const table = tableOfArn(storage, input.ResourceArn)
    if (input.TagKeys.length === 0) {
      throw validationError('Atleast one Tag Key needs to be provided as Input.')
    }
    const kept = (detailsOf(table).tags ?? []).filter(({ Key }) => !input.TagKeys.includes(Key))
    await storage.replaceTable(withDetails(table, { tags: kept }))
    return {}
  },
}

export const listTagsOfResource: Operation<ListTagsOfResourceInput, ListTagsOfResourceOutput> = {
  name: 'ListTagsOfResource',
  input: structure('ListTagsOfResourceInput', { 'ResourceArn!': arn, NextToken: string() }),

  run({ storage }, input) {
    return { Tags: detailsOf(tableOfArn(storage, input.ResourceArn)).tags ?? [] }
  },
}
