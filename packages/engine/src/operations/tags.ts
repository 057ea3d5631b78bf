/** TagResource, UntagResource and ListTagsOfResource: tags of tables. */
import type {
  ListTagsOfResourceInput,
  ListTagsOfResourceOutput,
  Tag,
  TagResourceInput,
  UntagResourceInput,
} from '../db.ts'
import { validationError } from '../errors.ts'
import { tableOfArn } from '../validation/names.ts'
import { list, string, structure } from '../validation/shapes.ts'
import { tags } from '../validation/table-shapes.ts'
import { detailsOf, withDetails } from './describe.ts'
import type { Operation } from './operation.ts'

const MAX_TAGS = 50
const MAX_NAME_LENGTH = 128
const MAX_VALUE_LENGTH = 256
const TAG_TEXT = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u
const arn = string({ min: 1, max: 1283 })

export const tagResource: Operation<TagResourceInput, object> = {
  name: 'TagResource',
  input: structure('TagResourceInput', { 'ResourceArn!': arn, 'Tags!': tags }),

  async run({ storage }, input) {
    if (input.Tags.length === 0)
      throw validationError('Atleast one Tag needs to be provided as Input.')
    const table = tableOfArn(storage, input.ResourceArn)
    checkTags(input.Tags)
    const merged = new Map<string, string>()
    for (const { Key, Value } of detailsOf(table).tags ?? []) merged.set(Key, Value)
    for (const { Key, Value } of input.Tags) merged.set(Key, Value)
    if (merged.size > MAX_TAGS) throw tooMany()
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
    if (input.TagKeys.length === 0) {
      throw validationError('Atleast one Tag Key needs to be provided as Input.')
    }
    const table = tableOfArn(storage, input.ResourceArn)
    for (const key of input.TagKeys) checkKey(key)
    if (input.TagKeys.length > MAX_TAGS) throw tooMany()
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

/** Checks the tags of one request; existing tags of the table do not count towards the limit. */
export function checkTags(given: readonly Tag[]): void {
  const keys = new Set<string>()
  for (const { Key, Value } of given) {
    checkKey(Key)
    if (!isTagText(Value, MAX_VALUE_LENGTH)) {
      throw validationError(`The Tag Value provided is invalid, Value: ${Value ?? null}`)
    }
    if (keys.has(Key)) {
      throw validationError(`Duplicate Tag Keys provided as input: Duplicate Tag Key found ${Key}`)
    }
    keys.add(Key)
  }
  if (keys.size > MAX_TAGS) throw tooMany()
}

function checkKey(key: string): void {
  if (key && isTagText(key, MAX_NAME_LENGTH)) return
  throw validationError(`The Tag Key provided is invalid, Key: ${key ?? null}`)
}

function isTagText(text: string | null | undefined, maxLength: number): boolean {
  return typeof text === 'string' && text.length <= maxLength && TAG_TEXT.test(text)
}

function tooMany(): Error {
  return validationError('Number of Tags exceed the current limit for the provided ResourceArn')
}
