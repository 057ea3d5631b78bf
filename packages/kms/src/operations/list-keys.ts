import type { ListKeysInput, ListKeysOutput } from '../api.ts'
import { isKeyId } from '../arn.ts'
import { parseInteger, parseText } from '../checks.ts'
import { KmsError } from '../errors.ts'
import type { Operation } from './operation.ts'

export const listKeys: Operation<ListKeysInput, ListKeysOutput> = {
  name: 'ListKeys',
  async run({ keys }, { Limit = 100, Marker }) {
    const limit = parseInteger(Limit, 'Limit', 1, 1000)
    const after = Marker === undefined ? '' : parseMarker(Marker)
    const sorted = (await keys.list())
      .map(({ arn, record }) => ({ KeyId: record.id, KeyArn: arn }))
      .filter(({ KeyId }) => KeyId > after)
      .toSorted((a, b) => (a.KeyId < b.KeyId ? -1 : 1))
    const page = sorted.slice(0, limit)
    const last = page.at(-1)
    if (sorted.length === page.length || !last) return { Keys: page, Truncated: false }
    return { Keys: page, Truncated: true, NextMarker: last.KeyId }
  },
}

/** The id of the last key of the previous page. */
function parseMarker(value: unknown): string {
  const marker = parseText(value, 'Marker', 1, 1024)
  if (isKeyId(marker)) return marker
  throw new KmsError(
    'InvalidMarkerException',
    'Marker must be the NextMarker of an earlier response',
  )
}
