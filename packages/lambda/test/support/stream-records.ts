/** The tasks in the store as records of its stream, in the shape that Lambda gets. */
import { eventsTable } from '@strongroom/ferryhook/tables'
import type { Db, Value } from '@strongroom/kit/db'
import type { StreamEvent } from '../../src/stream-event.ts'

let sequence = 100_000_000_000

export async function streamEvent(db: Db): Promise<StreamEvent & { Records: object[] }> {
  const { Items = [] } = await db.scan({ TableName: eventsTable.name, ConsistentRead: true })
  const tasks = Items.filter((item) => String(item['PK']).startsWith('DUE#'))
  return {
    Records: tasks.map((task) => {
      const SequenceNumber = String(++sequence)
      return {
        eventID: SequenceNumber,
        eventName: 'INSERT',
        eventVersion: '1.1',
        eventSource: 'aws:dynamodb',
        awsRegion: 'eu-central-1',
        dynamodb: {
          ApproximateCreationDateTime: Math.floor(Date.now() / 1000),
          Keys: { PK: { S: String(task['PK']) }, SK: { S: String(task['SK']) } },
          NewImage: Object.fromEntries(
            Object.entries(task).flatMap(([name, value]) => {
              const marshalled = marshall(value)
              return marshalled ? [[name, marshalled]] : []
            }),
          ),
          SequenceNumber,
          SizeBytes: 200,
          StreamViewType: 'NEW_IMAGE',
        },
        eventSourceARN:
          'arn:aws:dynamodb:eu-central-1:123456789012:table/ferryhook-events/stream/2026-01-01T00:00:00.000',
      }
    }),
  }
}

function marshall(value: Value): { S?: string; N?: string } | undefined {
  if (typeof value === 'string') return { S: value }
  return typeof value === 'number' ? { N: String(value) } : undefined
}
