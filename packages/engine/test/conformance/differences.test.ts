/** The table of differences and its document say the same, and every entry is in use. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { awsErrors, neverAnswered } from '../../conformance/aws-errors.ts'
import { awsOperations, isServed } from '../../conformance/aws-operations.ts'
import { lastName, unreadParameters, withoutEffect } from '../../conformance/aws-parameters.ts'
import { differencesDocument } from '../../conformance/differences-document.ts'
import { differences } from '../../conformance/differences.ts'

const folder = new URL('../../conformance/', import.meta.url)
const tests = new URL('../', import.meta.url)
const source = new URL('../../src/', import.meta.url)
const document = new URL('../../../../docs/dynamodb-differences.md', import.meta.url)

/** All code below a folder, without the lists that are tested here. */
function textOf(below: URL): string {
  return readdirSync(below, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/^(?:conformance\/)?differences|^aws-/.test(name))
    .map((name) => readFileSync(new URL(name, below), 'utf8'))
    .join('\n')
}

describe('the differences from AWS', () => {
  test('are listed in the document (run vitest with -u to write it)', async () => {
    await expect(differencesDocument()).toMatchFileSnapshot(fileURLToPath(document))
  })

  test('are each consulted by a suite', () => {
    const suites = textOf(folder)
    const unused = Object.keys(differences).filter((id) => !suites.includes(`'${id}'`))
    expect(unused).toEqual([])
  })

  test('give a reason for every parameter of AWS that has no effect', () => {
    const names = new Set(unreadParameters().map(lastName))
    expect([...names].toSorted()).toEqual(Object.keys(withoutEffect).toSorted())
  })

  test('each have the behaviour of AWS, the actual behaviour and a reason', () => {
    for (const [id, { targets, aws, instead, reason }] of Object.entries(differences)) {
      expect([id, targets.length > 0, aws, instead, reason].every(Boolean), id).toBe(true)
      expect(aws.endsWith('.') || instead.endsWith('.') || reason.endsWith('.'), id).toBe(false)
    }
  })
})

describe('the suites', () => {
  test('call every supported operation', () => {
    const suites = textOf(folder)
    const served = awsOperations.filter(({ name }) => isServed(name)).map(({ name }) => name)
    const isAsked = (name: string) =>
      suites.includes(`${name}Command`) || suites.includes(`'${name}'`)
    expect(served.filter((name) => !isAsked(name))).toEqual([])
  })

  test('and the tests cover every error that AWS documents, except those that never occur', () => {
    const [written, met] = [textOf(source), textOf(folder) + textOf(tests)]
    const answered = awsErrors.filter((name) => written.includes(`'${name}'`))
    expect(answered).toEqual(awsErrors.filter((name) => !(name in neverAnswered)))
    expect(answered.filter((name) => !met.includes(name))).toEqual([])
    expect(Object.keys(neverAnswered).filter((name) => !awsErrors.includes(name))).toEqual([])
  })
})
