/**
 * Membership in DynamoDB's sets, and their order: members are returned sorted, so every set is kept so.
 * JavaScript compares a NumberValue or a Uint8Array by identity, so members are compared by a key: the
 * member itself, or a text for it.
 */
import { validationError } from '../errors.ts'
import { compare } from './order.ts'
import { NumberValue, type SetValue } from './types.ts'

export type Member = string | number | NumberValue | Uint8Array

/** Equal members have equal keys, within one type of set. */
export function memberKey(member: Member): string | number {
  if (typeof member !== 'object') return member
  if (member instanceof NumberValue) return member.value
  return Buffer.from(member.buffer, member.byteOffset, member.byteLength).toString('latin1')
}

export function memberKeys(set: SetValue): Set<string | number> {
  const keys = new Set<string | number>()
  for (const member of set as Set<Member>) keys.add(memberKey(member))
  return keys
}

export function hasMember(set: SetValue, member: Member): boolean {
  if (typeof member !== 'object') return (set as Set<Member>).has(member)
  const wanted = memberKey(member)
  for (const other of set as Set<Member>) if (memberKey(other) === wanted) return true
  return false
}

export function equalSets(a: SetValue, b: SetValue): boolean {
  if (a.size !== b.size) return false
  const keys = memberKeys(b)
  for (const member of a as Set<Member>) if (!keys.has(memberKey(member))) return false
  return true
}

export function isSorted(members: readonly Member[]): boolean {
  for (let index = 1; index < members.length; index++) {
    if (compare(members[index - 1]!, members[index]!) > 0) return false
  }
  return true
}

/** A set of members of one type without duplicates. */
export function sortedSet(members: readonly Member[]): SetValue {
  return new Set(isSorted(members) ? members : members.toSorted(compare)) as SetValue
}

/** Both sets must have the same type; neither is changed. */
export function union(a: SetValue, b: SetValue): SetValue {
  const keys = memberKeys(a)
  const members: Member[] = [...(a as Set<Member>)]
  for (const member of b as Set<Member>) if (!keys.has(memberKey(member))) members.push(member)
  return sortedSet(members)
}

/** The members of `a` that are not in `b`, possibly none; neither set is changed. */
export function difference(a: SetValue, b: SetValue): SetValue {
  const keys = memberKeys(b)
  const result = new Set<Member>()
  for (const member of a as Set<Member>) if (!keys.has(memberKey(member))) result.add(member)
  return result as SetValue
}

// A set must not be empty, and has members of one type without duplicates. AWS's messages differ between
// the three types of sets.

type SetType = 'SS' | 'NS' | 'BS'

const INVALID = 'One or more parameter values were invalid:'

export function setOf(type: SetType, members: Member[]): SetValue {
  if (members.length === 0) throw emptySet(type)
  if (type === 'SS') {
    const strings = new Set(members as string[])
    if (strings.size !== members.length) throw duplicates(type, members)
    return isSorted(members) ? strings : sortedSet(members)
  }
  const keys = new Set<string | number>()
  for (const member of members) keys.add(memberKey(member))
  if (keys.size !== members.length) throw duplicates(type, members)
  return sortedSet(members)
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
