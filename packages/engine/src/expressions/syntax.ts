/**
 * Syntax trees of expressions. Placeholders are not resolved, so all requests with the same text can
 * share one tree.
 */

export type ExpressionKind =
  | 'ConditionExpression'
  | 'FilterExpression'
  | 'KeyConditionExpression'
  | 'UpdateExpression'
  | 'ProjectionExpression'

/**
 * Attribute names, `#placeholders` and list indexes; only placeholders begin with '#'. An index that is
 * too large for any list is a bigint, and rejected before the path is used.
 */
export interface PathSyntax {
  readonly type: 'path'
  readonly parts: readonly (string | number | bigint)[]
}

export interface ValueSyntax {
  readonly type: 'value'
  /** Includes the colon. */
  readonly placeholder: string
}

export interface CallSyntax {
  readonly type: 'call'
  readonly name: string
  readonly operands: readonly OperandSyntax[]
}

export type OperandSyntax = PathSyntax | ValueSyntax | CallSyntax

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>='

export type ConditionSyntax =
  | CallSyntax
  | {
      readonly type: 'compare'
      readonly comparator: Comparator
      readonly left: OperandSyntax
      readonly right: OperandSyntax
    }
  | {
      readonly type: 'between'
      readonly operand: OperandSyntax
      readonly low: OperandSyntax
      readonly high: OperandSyntax
    }
  | {
      readonly type: 'in'
      readonly operand: OperandSyntax
      readonly choices: readonly OperandSyntax[]
    }
  /** `count` is the number of consecutive NOTs. */
  | { readonly type: 'not'; readonly count: number; readonly condition: ConditionSyntax }
  | { readonly type: 'and' | 'or'; readonly conditions: readonly ConditionSyntax[] }

export interface ArithmeticSyntax {
  readonly type: 'arithmetic'
  readonly operator: '+' | '-'
  readonly left: OperandSyntax
  readonly right: OperandSyntax
}

export type ActionSyntax =
  | {
      readonly type: 'SET'
      readonly path: PathSyntax
      readonly value: OperandSyntax | ArithmeticSyntax
    }
  | { readonly type: 'REMOVE'; readonly path: PathSyntax }
  | { readonly type: 'ADD' | 'DELETE'; readonly path: PathSyntax; readonly value: ValueSyntax }

export interface UpdateSyntax {
  readonly actions: readonly ActionSyntax[]
  /** The first section that occurs twice. */
  readonly repeatedSection?: string
}
