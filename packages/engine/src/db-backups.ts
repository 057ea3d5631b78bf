/** The in-process face of backups: DynamoDB's own inputs and outputs. */
import type {
  GlobalSecondaryIndex,
  LocalSecondaryIndex,
  StreamSpecification,
  TableDescription,
  Throughput,
} from './db.ts'

export interface BackupsDb {
  createBackup(input: CreateBackupInput): Promise<{ BackupDetails?: BackupDetails }>
  describeBackup(input: BackupInput): Promise<BackupOutput>
  listBackups(input?: ListBackupsInput): Promise<ListBackupsOutput>
  deleteBackup(input: BackupInput): Promise<BackupOutput>
  restoreTableFromBackup(input: RestoreFromBackupInput): Promise<RestoreOutput>
  restoreTableToPointInTime(input: RestoreToPointInTimeInput): Promise<RestoreOutput>
}

export interface CreateBackupInput {
  TableName: string
  BackupName: string
}

export interface BackupInput {
  BackupArn: string
}

/** Times are epoch seconds. */
export interface BackupDetails {
  BackupArn?: string
  BackupName?: string
  BackupSizeBytes?: number
  BackupStatus?: 'CREATING' | 'AVAILABLE' | 'DELETED'
  BackupType?: 'USER' | 'SYSTEM'
  BackupCreationDateTime?: number
  BackupExpiryDateTime?: number
}

export interface BackupOutput {
  BackupDescription?: {
    BackupDetails?: BackupDetails
    SourceTableDetails?: {
      TableName?: string
      TableId?: string
      TableArn?: string
      TableSizeBytes?: number
      KeySchema?: { AttributeName?: string; KeyType?: string }[]
      TableCreationDateTime?: number
      ProvisionedThroughput?: Partial<Throughput>
      ItemCount?: number
      BillingMode?: string
    }
    SourceTableFeatureDetails?: {
      LocalSecondaryIndexes?: object[]
      GlobalSecondaryIndexes?: object[]
      StreamDescription?: StreamSpecification
      TimeToLiveDescription?: { TimeToLiveStatus?: string; AttributeName?: string }
    }
  }
}

export interface ListBackupsInput {
  TableName?: string
  Limit?: number
  /** Epoch seconds; the lower bound is included, the upper one is not. */
  TimeRangeLowerBound?: number
  TimeRangeUpperBound?: number
  ExclusiveStartBackupArn?: string
  BackupType?: 'USER' | 'SYSTEM' | 'AWS_BACKUP' | 'ALL'
}

export interface ListBackupsOutput {
  BackupSummaries?: (BackupDetails & { TableName?: string; TableId?: string; TableArn?: string })[]
  LastEvaluatedBackupArn?: string
}

export interface RestoreOverrides {
  TargetTableName: string
  BillingModeOverride?: 'PROVISIONED' | 'PAY_PER_REQUEST'
  ProvisionedThroughputOverride?: Throughput
  GlobalSecondaryIndexOverride?: GlobalSecondaryIndex[]
  LocalSecondaryIndexOverride?: LocalSecondaryIndex[]
}

export interface RestoreFromBackupInput extends RestoreOverrides {
  BackupArn: string
}

export interface RestoreToPointInTimeInput extends RestoreOverrides {
  SourceTableName?: string
  SourceTableArn?: string
  /** Epoch seconds, with milliseconds as a fraction. */
  RestoreDateTime?: number
  UseLatestRestorableTime?: boolean
}

export interface RestoreOutput {
  TableDescription?: TableDescription
}
