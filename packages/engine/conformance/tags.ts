/** TagResource, UntagResource and ListTagsOfResource. */
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  ListTagsOfResourceCommand,
  TagResourceCommand,
  UntagResourceCommand,
} from '@aws-sdk/client-dynamodb'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  becomesActive,
  expectRefusal,
  failure,
  freshName,
  tableInput,
  text,
  useTable,
} from './harness.ts'
import { differs, type Target } from './target.ts'

export function tags(target: Target): void {
  const { client } = target

  describe.skipIf(differs(target, 'tags'))('tags', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    let arn = ''
    beforeAll(async () => {
      const { Table } = await client.send(new DescribeTableCommand({ TableName: table }))
      arn = Table?.TableArn ?? ''
    })
    const listed = async (ResourceArn = arn) => {
      const { Tags = [] } = await client.send(new ListTagsOfResourceCommand({ ResourceArn }))
      return Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value]))
    }

    test('of a new table are none', async () => {
      expect(await listed()).toEqual({})
    })

    test('can be added, replaced and removed', async () => {
      const tag = (Tags: { Key: string; Value: string }[]) =>
        client.send(new TagResourceCommand({ ResourceArn: arn, Tags }))
      await tag([
        { Key: 'team', Value: 'a' },
        { Key: 'stage', Value: 'test' },
      ])
      await tag([{ Key: 'team', Value: 'b' }])
      expect(await listed()).toEqual({ team: 'b', stage: 'test' })
      await client.send(new UntagResourceCommand({ ResourceArn: arn, TagKeys: ['stage', 'never'] }))
      expect(await listed()).toEqual({ team: 'b' })
    })

    test('can be given with the table', async () => {
      const name = freshName()
      const { TableDescription } = await client.send(
        new CreateTableCommand({
          ...tableInput(name, { key: { pk: 'S' } }),
          Tags: [{ Key: 'team', Value: 'a' }],
        }),
      )
      await becomesActive(client, name)
      expect(await listed(TableDescription?.TableArn)).toEqual({ team: 'a' })
      await client.send(new DeleteTableCommand({ TableName: name }))
    })

    const tag = (count: number) =>
      client.send(
        new TagResourceCommand({
          ResourceArn: arn,
          Tags: Array.from({ length: count }, (_, n) => ({ Key: `tag-${n}`, Value: '' })),
        }),
      )

    test('may be 50', async () => {
      const team = Object.keys(await listed()).length
      await tag(50 - team)
      expect(Object.keys(await listed())).toHaveLength(50)
      expect((await failure(tag(51))).name).toBe('ValidationException')
      expect(Object.keys(await listed())).toHaveLength(50)
    })

    test('are refused if there are none, or if their names are too long', async () => {
      await expectRefusal(tag(0), { message: 'Atleast one Tag needs to be provided as Input.' })
      const long = client.send(
        new TagResourceCommand({ ResourceArn: arn, Tags: [{ Key: text(129), Value: '' }] }),
      )
      expect((await failure(long)).name).toBe('ValidationException')
      const none = client.send(new UntagResourceCommand({ ResourceArn: arn, TagKeys: [] }))
      await expectRefusal(none, {
        message: 'Atleast one Tag Key needs to be provided as Input.',
      })
    })

    test('of a table that does not exist are refused', async () => {
      const missing = arn.replace(table, freshName())
      const list = client.send(new ListTagsOfResourceCommand({ ResourceArn: missing }))
      const add = client.send(
        new TagResourceCommand({ ResourceArn: missing, Tags: [{ Key: 'a', Value: 'b' }] }),
      )
      expect(['ResourceNotFoundException', 'AccessDeniedException']).toContain(
        (await failure(list)).name,
      )
      await expectRefusal(add, {
        name: 'ResourceNotFoundException',
        message: `Requested resource not found: ResourcArn: ${missing} not found`,
      })
    })

    test('of what is no table are refused', async () => {
      const add = client.send(
        new TagResourceCommand({ ResourceArn: 'nonsense', Tags: [{ Key: 'a', Value: 'b' }] }),
      )
      await expectRefusal(add, {
        message: "ARNs must start with 'arn:'",
      })
      const ResourceArn = 'arn:aws:dynamodb:nowhere'
      const list = client.send(new ListTagsOfResourceCommand({ ResourceArn }))
      await expectRefusal(list, {
        message: `Invalid TableArn: Invalid ResourceArn provided as input ${ResourceArn}`,
      })
    })

    test('are refused if there are none, even if the table does not exist', async () => {
      const ResourceArn = arn.replace(table, freshName())
      const add = client.send(new TagResourceCommand({ ResourceArn, Tags: [] }))
      await expectRefusal(add, { message: 'Atleast one Tag needs to be provided as Input.' })
      const remove = client.send(new UntagResourceCommand({ ResourceArn, TagKeys: [] }))
      await expectRefusal(remove, { message: 'Atleast one Tag Key needs to be provided as Input.' })
    })
  })
}
