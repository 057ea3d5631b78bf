/**
 * What makes a collection of members a set: not empty, one type, no duplicates. AWS words each
 * refusal differently for the three types of sets.
 */
import { validationError } from '../errors.ts'
import { type Member, memberKey } from './sets.ts'
import type { SetValue } from './types.ts'

type SetType = 'SS' | 'NS' | 'BS'

const INVALID = 'One or more parameter values were invalid:'

export function setOf(type: SetType, members: Member[]): SetValue {
  if (members.length === 0) throw emptySet(type)
  if (type === 'SS') {
    const strings = new Set(members as string[])
    if (strings.size !== members.length) throw duplicates(type, members)
    return strings
  }
  const keys = new Set<string | number>()
  for (const member of members) keys.add(memberKey(member))
  if (keys.size !== members.length) throw duplicates(type, members)
  return new Set(members) as SetValue
}

function emptySet(type: SetType) {
  if (type === 'SS') return validationError(`${INVALID} An string set  may not be empty`)
  if (type === 'NS') return validationError(`${INVALID} An number set  may not be empty`)
  return validationError(`${INVALID} Binary sets should not be empty`)
}

function duplicates(type: SetType, members: Member[]) {
  if (type === 'NS') return validationError('Input collection contains duplicates')
  const texts = members.map((member) =>
    member instanceof Uint8Array ? Buffer.from(member).toString('base64') : String(member),
  )
  const collection = `Input collection [${texts.join(', ')}]`
  if (type === 'SS') return validationError(`${INVALID} ${collection} contains duplicates.`)
  return validationError(`${INVALID} ${collection}of type BS contains duplicates.`)
}
