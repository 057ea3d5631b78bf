/** The part of Lambda's context that handlers use. */
export interface LambdaContext {
  getRemainingTimeInMillis(): number
}
