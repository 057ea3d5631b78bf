/** UpdateTimeToLive and DescribeTimeToLive, and what becomes of expired items. */
import {
  DescribeTimeToLiveCommand,
  QueryCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  eventually,
  expectRefusal,
  freshName,
  type Item,
  read,
  refuses,
  useTable,
  write,
} from './harness.ts'
import { expected, type Target } from './target.ts'

export function timeToLive(target: Target): void {
  const { client } = target

  describe('time to live', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const described = async (TableName: string) =>
      (await client.send(new DescribeTimeToLiveCommand({ TableName }))).TimeToLiveDescription
    const update = (Enabled: boolean, AttributeName = 'expires', TableName = table) =>
      client.send(
        new UpdateTimeToLiveCommand({
          TableName,
          TimeToLiveSpecification: { Enabled, AttributeName },
        }),
      )

    test('is disabled at first', async () => {
      expect(await described(table)).toEqual({ TimeToLiveStatus: 'DISABLED' })
    })

    test('can be enabled, and is described as enabled', async () => {
      const output = await update(true)
      expect(output.TimeToLiveSpecification).toEqual({ Enabled: true, AttributeName: 'expires' })
      const description = await described(table)
      expect(['ENABLING', 'ENABLED']).toContain(description?.TimeToLiveStatus)
      expect(description?.AttributeName).toBe('expires')
    })

    test('cannot be enabled twice', async () => {
      await expectRefusal(update(true), { message: 'TimeToLive is already enabled' })
    })

    test('cannot be disabled under another attribute name', async () => {
      await expectRefusal(update(false, 'other'), {
        message: /TimeToLive is active on a different AttributeName/,
      })
    })

    test('can be disabled, and not twice', async () => {
      const other = freshName()
      const output = await update(false)
      expect(output.TimeToLiveSpecification).toEqual({ Enabled: false, AttributeName: 'expires' })
      expect(['DISABLING', 'DISABLED']).toContain((await described(table))?.TimeToLiveStatus)
      await expectRefusal(update(false), { message: 'TimeToLive is already disabled' })
      await expectRefusal(update(true, 'expires', other), {
        name: 'ResourceNotFoundException',
        message: expected(
          target,
          'missing-table-text',
          `Requested resource not found: Table: ${other} not found`,
          'Cannot do operations on a non-existent table',
        ),
      })
    })

    refuses(target, UpdateTimeToLiveCommand, { TableName: table }, [
      [
        'an empty attribute name',
        { TimeToLiveSpecification: { Enabled: true, AttributeName: '' } },
        "1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must have length greater than or equal to 1",
        'parameter-texts',
      ],
      [
        'no specification',
        {},
        "1 validation error detected: Value null at 'timeToLiveSpecification' failed to satisfy constraint: Member must not be null",
        'parameter-texts',
      ],
    ])

    describe('of expired items', { timeout: 60_000 }, () => {
      const now = Math.floor(Date.now() / 1000)
      const swept = useTable(target, {
        key: { pk: 'S' },
        global: { 'by-owner': { key: { g: 'S' } } },
      })

      test('deletes them soon, from the indexes too, and nothing else', async () => {
        await update(true, 'expires', swept)
        const item = (pk: string, expires?: Item[string]): Item => ({
          pk: { S: pk },
          g: { S: 'g' },
          ...(expires && { expires }),
        })
        const kept = [
          item('later', { N: `${now + 3600}` }),
          item('without'),
          item('a string', { S: `${now - 60}` }),
          item('older than five years', { N: `${now - 6 * 365 * 86_400}` }),
          item('milliseconds', { N: `${(now - 60) * 1000}` }),
        ]
        await write(target, swept, [
          ...kept,
          item('expired', { N: `${now - 60}` }),
          item('expired long ago', { N: `${now - 86_400}` }),
        ])
        const gone = async (pk: string) => !(await read(target, swept, { pk: { S: pk } }))
        await eventually(async () => (await gone('expired')) && (await gone('expired long ago')))
        const { Items = [] } = await client.send(
          new QueryCommand({
            TableName: swept,
            IndexName: 'by-owner',
            KeyConditionExpression: 'g = :g',
            ExpressionAttributeValues: { ':g': { S: 'g' } },
          }),
        )
        expect(Items.map((found) => found['pk']?.S ?? '').toSorted()).toEqual(
          kept.map((found) => found['pk']?.S ?? '').toSorted(),
        )
      })
    })
  })
}
