import { readdirSync, readFileSync } from 'node:fs'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import * as sdk from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { awsOperations, isServed } from '../../conformance/aws-operations.ts'
import { wireOperations } from '../../src/operations/all.ts'
import { embedded } from '../../src/wire/sdk.ts'
import { freshEngine } from '../support/engine.ts'
import { expectAwsShaped, freshServer, send } from '../support/robustness.ts'

describe('the operations of AWS', () => {
  test('include all that the engine serves', () => {
    const names = new Set(awsOperations.map(({ name }) => name))
    expect([...wireOperations.keys()].filter((name) => !names.has(name))).toEqual([])
    expect(names.size).toBeGreaterThan(60)
  })

  test('are each a method of the in-process face if they are served, and no others are', async () => {
    const engine = await freshEngine()
    const { handle: _handle, sweep: _sweep, settled: _settled, close: _close, ...rest } = engine
    const methods = Object.keys(rest).filter((name) => name !== 'region' && name !== 'storage')
    const served = [...wireOperations.keys()].map((name) => name[0]?.toLowerCase() + name.slice(1))
    expect(methods.toSorted()).toEqual(served.toSorted())
  })

  test('of streams are served under the target of that service only', async () => {
    const { server, agent } = await freshServer()
    const served = awsOperations.filter((each) => isServed(each.name))
    for (const { name, target } of served) {
      const isOfStreams = target.startsWith('DynamoDBStreams_')
      const other = `${isOfStreams ? 'DynamoDB' : 'DynamoDBStreams'}_20120810.${name}`
      // oxlint-disable-next-line no-await-in-loop -- one connection
      const answer = await send(server, agent, { target: other }, '{}')
      expect([name, '__type' in answer.body && answer.body['__type']]).toEqual([
        name,
        'com.amazon.coral.service#UnknownOperationException',
      ])
    }
  })

  test('are each served over HTTP, or unknown there', async () => {
    const { server, agent } = await freshServer()
    for (const { name, target } of awsOperations) {
      // oxlint-disable-next-line no-await-in-loop -- one connection
      const answer = await send(server, agent, { target }, '{}')
      expectAwsShaped(answer)
      const isUnknown =
        answer.status === 400 &&
        '__type' in answer.body &&
        answer.body['__type'] === 'com.amazon.coral.service#UnknownOperationException'
      expect(isUnknown, name).toBe(!isServed(name))
    }
  })

  test('are each served to the SDK in this process, or unknown there', async () => {
    const engine = await freshEngine()
    const client = new DynamoDBClient({ ...embedded(engine), maxAttempts: 1 })
    const commands = sdk as unknown as Record<string, new (input: object) => sdk.ListTablesCommand>
    for (const { name } of awsOperations) {
      const command = commands[`${name}Command`]
      if (!command) continue
      // oxlint-disable-next-line no-await-in-loop -- one after the other, to tell them apart
      const outcome = await client.send(new command({})).then(
        () => 'served',
        (error: Error) => error.name,
      )
      expect(outcome === 'UnknownOperationException', `${name}: ${outcome}`).toBe(!isServed(name))
    }
  })

  test('are each in a suite if they are served', () => {
    const folder = new URL('../../conformance/', import.meta.url)
    const suites = readdirSync(folder)
      .filter((name) => name.endsWith('.ts') && name !== 'aws-operations.ts')
      .map((name) => readFileSync(new URL(name, folder), 'utf8'))
      .join('\n')
    const untested = [...wireOperations.keys()].filter(
      (name) => !suites.includes(`${name}Command(`) && !suites.includes(`'${name}'`),
    )
    expect(untested).toEqual([])
  })
})
