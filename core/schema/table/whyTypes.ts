/** Types of this project's own group, which explain decisions of the server; the form is explained in README.md. */
export const WHY_TYPES = {
  'why.v1': `
AuthorizerOpinion
 name 1 string !
 decision 2 string !
 reason 3 string ?
 error 4 string ?
 rules 5 [].NearRule ? list=atomic
Authorization
 allowed 1 bool !
 authorizers 2 [].AuthorizerOpinion ? list=atomic
 grant 3 string ?
 explainedAt 4 Time *?
Conflict
 field 1 string !
 manager 2 string !
 operation 3 string ?
 subresource 4 string ?
 since 5 Time *?
Decision kind list
 metadata 1 meta.v1.ObjectMeta ?
 request 2 .Request !
 sender 3 .Sender *?
 outcome 4 .Outcome !
 authorization 5 .Authorization *?
 steps 6 [].Step ? list=atomic
 violations 7 [].Violation ? list=atomic
 conflicts 8 [].Conflict ? list=atomic
 incomplete 9 string ?
Explanation kind
 metadata 1 meta.v1.ObjectMeta ?
 spec 2 authorization.v1.SubjectAccessReviewSpec !
 status 3 .Authorization *?
NearRule
 source 1 string !
 rule 2 string !
 missing 3 []string ? list=atomic
Outcome
 code 1 int32 !
 reason 2 string ?
 message 3 string ?
 milliseconds 4 double !
Request
 verb 1 string !
 path 2 string !
 group 3 string ?
 version 4 string ?
 resource 5 string ?
 subresource 6 string ?
 namespace 7 string ?
 name 8 string ?
 dryRun 9 bool ?
Sender
 username 1 string !
 uid 2 string ?
 groups 3 []string ? list=atomic
 extra 4 {}authentication.v1.ExtraValue ?
 authenticator 5 string ?
 impersonator 6 string ?
Step
 stage 1 string !
 plugin 2 string !
 part 3 string ?
 result 4 string !
 message 5 string ?
 milliseconds 6 double ?
 cost 7 int64 ?
 patch 8 string ?
Violation
 field 1 string !
 reason 2 string !
 message 3 string !
 rule 4 string ?
`,
};
