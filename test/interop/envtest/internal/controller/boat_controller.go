// Package controller has the controller of the project.
package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	harbourv1 "sagong.dev/envtest/api/v1"
)

type BoatReconciler struct {
	client.Client
}

func (r *BoatReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var boat harbourv1.Boat
	if err := r.Get(ctx, req.NamespacedName, &boat); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	changed := meta.SetStatusCondition(&boat.Status.Conditions, metav1.Condition{
		Type: "Afloat", Status: metav1.ConditionTrue, Reason: "Launched", Message: "it swims", ObservedGeneration: boat.Generation,
	})
	if !changed {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Status().Update(ctx, &boat)
}

func (r *BoatReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&harbourv1.Boat{}).Complete(r)
}
