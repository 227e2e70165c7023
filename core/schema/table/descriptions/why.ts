/** Descriptions of the group that explains decisions, by package; README.md explains the form. */
export const WHY_DESCRIPTIONS = {
  'why.v1': `
AuthorizerOpinion What one authorizer says about the request.
 name Name of the plugin, such as "rbac" or "node".
 decision "Allow", "Deny" or "NoOpinion". The first that is not "NoOpinion" counts.
 reason Why it decides so. Of RBAC it names the binding and role that allow the request.
 error Error of the authorizer, if it failed when it was asked to explain itself.
 rules Rules that allow the request or, if none does, the nearest ones, the nearest first.
Authorization What the authorizers say about the request, in the order in which they are asked.
 allowed Whether an authorizer has allowed the request. Without an opinion of any, it is denied.
 authorizers The authorizers up to the one that decided; all of them in an explanation.
 grant YAML of the smallest objects that would allow the request, ready to apply. Empty if it is allowed, or if no
  authorizer knows such objects.
 explainedAt When the rules were looked up. They may have changed since the request.
Conflict A field that an apply would have taken from another field manager.
 field Path of the field, such as ".spec.replicas".
 manager The field manager that owns the field.
 operation How that manager owns it: "Apply" or "Update".
 subresource Subresource through which that manager owns it. Empty for the object itself.
 since When that manager has last changed the fields that it owns.
Decision What the server did about one request, and why. The last refusals and writes are kept in memory.
 request The request, without its body and its query.
 sender Who has sent the request. Absent if that is not known, because the credentials are invalid.
 outcome The answer of the server to the request.
 authorization What the authorizers say about the request.
 steps What admission did, in order: mutators, validators, and in them policies and webhooks.
 violations Fields of the object that are not valid. The first 100 are kept.
 conflicts Fields that an apply would have taken from other managers. The first 100 are kept.
 incomplete Says what the record does not have, such as changes of mutators that were made while the server was busy.
Explanation Asks whether a user may do something, and why. Nothing is executed or stored.
 spec The user and the action. Without user and groups: the sender of the explanation.
 status What the authorizers say about the action.
NearRule A rule of an authorizer that allows a request, or nearly does.
 source Where the rule is from, such as a binding with its role.
 rule The rule in JSON, or as a text of the authorizer.
 missing Parts of the request that the rule does not have, such as "verb" or "namespace". Empty: it allows the request.
Outcome The answer of the server to a request.
 code Status code of HTTP. From 400 on, the request was refused.
 reason Reason in the Status of a refusal, such as "Forbidden".
 message Message in the Status of a refusal, shortened. Empty where it would show values of a Secret.
 milliseconds Time from the arrival of the request to its answer.
Request A request, as far as it is kept: without its body and its query.
 verb Verb of the request, such as "create"; of a path that is no resource, its method in lower case.
 path Path of the request, without the query.
 group API group of the resource. Empty for the core group, and for paths that are no resource.
 version Version of the API group that the request was sent to.
 resource Plural name of the resource. Empty for paths that are no resource.
 subresource Subresource, such as "status". Empty for the object itself.
 namespace Namespace of the request. Empty for objects of the cluster and all namespaces.
 name Name of the object, also of one that was created. Empty for lists.
 dryRun Whether the request was a dry run: the answer is what would have happened, and nothing was stored.
Sender The user that a request was made as.
 username Name of the user, such as "system:anonymous" without credentials.
 uid Id of the user, if its authenticator knows one.
 groups Groups that the user is in, as the authorizers saw them.
 extra Further attributes of the user, by key.
 authenticator Plugin that has found the user. Empty without credentials, and for requests inside of the server.
 impersonator Name of the user who sent the request to act as this one. Empty if nobody did.
Step One thing that admission did: a call of a mutator or validator, or of a policy or webhook in one.
 stage "Mutate" or "Validate". Mutators are called before validators.
 plugin Name of the plugin that was called.
 part Policy with its binding, or webhook, that the plugin has asked. Empty for the plugin itself.
 result "Changed", "Passed", "Warned", "Refused", or "Failed" if it failed and the request went on.
 message Message of a refusal, a warning or a failure, shortened.
 milliseconds Time that the call took. Absent for parts that are not timed.
 cost Cost of the expressions that were evaluated, in units of CEL.
 patch Change of the object as JSON Patch (RFC 6902). Values of Secrets are replaced with "(redacted)".
Violation A field of an object that is not valid.
 field Path of the field, such as "spec.replicas".
 reason Kind of the violation, such as "FieldValueInvalid".
 message What is wrong with the field. Empty where it would show values of a Secret.
 rule CEL expression that does not hold, for a rule in the schema of a custom kind.
`,
};
